"""An SLO younger than the file, answered from the file as the records would answer it."""

from __future__ import annotations

import numpy as np
import pytest
from curve_builder import curve, measured, point, records

from sweep.curve.judged import judged
from sweep.curve.pick import pick
from sweep.measure.goodput import within
from sweep.model import Bound, Slo


def slo(*bounds: tuple[str, float, float | None]) -> Slo:
    return Slo(name="s", bounds=tuple(Bound(metric=metric, limit_s=limit, quantile=q) for metric, limit, q in bounds))


def random_slos(own, count: int, seed: int) -> list[Slo]:
    """Bounds inside the distributions, so that each of them matters."""
    draw = np.random.default_rng(seed)
    ok = own.where(own["outcome"] == "ok")
    ttft, e2e = ((ok[end] - ok["sent_ns"]) / 1e9 for end in ("first_ns", "last_ns"))
    tpot = (ok["last_ns"] - ok["first_ns"]) / (ok["osl"] - 1) / 1e9
    made = []
    for _ in range(count):
        bounds = [
            (name, float(np.quantile(values, draw.uniform(0.1, 0.99))), [None, 0.5, 0.9, 0.99][draw.integers(4)])
            for name, values in (("ttft", ttft), ("tpot", tpot), ("e2e", e2e))
            if draw.random() < 0.7
        ]
        made.append(slo(*(bounds or [("ttft", float(np.median(ttft)), 0.9)])))
    return made


@pytest.mark.parametrize(("n", "exact"), [(400, True), (6_000, False)])
def test_counts_contain_the_records_own_for_fifty_random_slos(n: int, exact: bool) -> None:
    own = records(n=n, seed=7, fail_every=23)
    cohort = own.where(own["phase"] == "measured")
    measured_point = measured(own)
    for one in random_slos(own, 50, seed=n):
        truth = int(np.logical_and.reduce([within(cohort, bound, "sent_ns") for bound in one.bounds]).sum())
        low, high = judged(4, [measured_point], one).good
        assert low <= truth <= high
        assert high - low <= (1 if exact else 0.02 * n)


def test_the_answer_from_the_file_is_the_answer_of_the_run() -> None:
    """The SLO known during the run: same counts, same verdict, nearly the same interval."""
    asked = slo(("ttft", 0.45, 0.9), ("tpot", 0.04, 0.9))
    own = records(n=2_000, seed=5, fail_every=50)
    at_run = measured(own, slos=(asked,)).slos[0]
    from_file = judged(4, [measured(own)], asked)
    assert from_file.good == (at_run.good, at_run.good)
    assert from_file.verdict == at_run.verdict
    assert from_file.attainment.value == at_run.attainment.value
    assert from_file.goodput_req_per_s.value == pytest.approx(at_run.goodput_req_per_s.value)
    assert from_file.attainment.low == pytest.approx(at_run.attainment.low, abs=0.02)


def loads(*slowness: float):
    """Points at 1, 2, 4 … whose latencies are stretched by the factors."""
    points = []
    for place, factor in enumerate(slowness):
        own = records(cell=place, n=1_000, seed=place)
        stretched = own.replace(
            **{
                name: own["sent_ns"] + ((own[name] - own["sent_ns"]) * factor).astype(np.int64)
                for name in ("first_ns", "last_ns")
            }
        )
        points.append(measured(stretched, 2**place))
    return curve(*points)


def test_the_highest_load_the_boundary_above_it_and_the_best_goodput() -> None:
    found = pick(loads(1.0, 1.2, 4.0, 9.0), slo(("ttft", 0.8, 0.9)))
    assert [load.verdict for load in found.loads] == ["met", "met", "missed", "missed"]
    assert (found.verdict, found.highest.level) == ("met", 2)
    assert (found.boundary.meets, found.boundary.fails) == (2, 4)
    assert 2 < found.boundary.level < 4
    assert found.best.level in (1, 2)


def test_no_load_meets_it() -> None:
    found = pick(loads(1.0, 2.0), slo(("ttft", 0.001, 0.9)))
    assert found.unreachable
    assert (found.highest, found.boundary, found.best) == (None, None, None)


def test_every_load_meets_it_and_nothing_is_extrapolated() -> None:
    found = pick(loads(1.0, 1.1), slo(("ttft", 60.0, 0.99)))
    assert (found.highest.level, found.boundary) == (2, None)


def test_close_to_the_bound_few_requests_decide_nothing() -> None:
    own = records(n=100, seed=5)
    ok = own.where(own["phase"] == "measured")
    limit = float(np.quantile((ok["first_ns"] - ok["sent_ns"]) / 1e9, 0.91))
    found = pick(curve(measured(own, 1)), slo(("ttft", limit, 0.9)))
    assert found.verdict == "undecided"
    assert found.highest is None
    assert not found.unreachable


def test_the_first_bound_to_break_is_named() -> None:
    found = pick(loads(1.0, 4.0), slo(("ttft", 0.8, 0.9), ("e2e", 500.0, 0.9)))
    assert found.boundary.bound.metric == "ttft"


def test_failures_keep_no_bound() -> None:
    own = records(n=400, seed=1, fail_every=2)
    found = pick(curve(measured(own, 1)), slo(("ttft", 60.0, 0.9)))
    assert found.verdict == "missed"
    assert found.best.attainment.value == pytest.approx(0.5, abs=0.01)


def test_disqualified_points_answer_nothing_and_a_missing_table_is_undecided() -> None:
    assert pick(curve(point(1, disqualified=True)), slo(("ttft", 1.0, 0.9))).loads == ()
    found = pick(curve(point(1)), slo(("ttft", 1.0, 0.9)))
    assert (found.verdict, found.loads[0].good) == ("undecided", None)


def test_repeats_are_counted_together() -> None:
    one, two = (measured(records(cell=place, repeat=place, n=300, seed=place), 4) for place in range(2))
    both = pick(curve(one, two), slo(("ttft", 0.3, 0.9))).loads
    assert len(both) == 1
    assert both[0].cohort == 600
    alone = [judged(4, [part], slo(("ttft", 0.3, 0.9))) for part in (one, two)]
    assert both[0].good[0] == sum(part.good[0] for part in alone)
    assert both[0].goodput_req_per_s.value == pytest.approx(np.mean([part.goodput_req_per_s.value for part in alone]))
