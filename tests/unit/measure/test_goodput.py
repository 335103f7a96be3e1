"""Good requests counted one by one, and verdicts by the interval of a share."""

from __future__ import annotations

import numpy as np
import pytest
from unit.measure.synthetic import S, answer, closed, failure

from sweep import records
from sweep.measure import goodput
from sweep.model import Bound, Estimate, Slo, Window

WINDOW = Window(begin_ns=0, end_ns=10 * S, begin_reason="", end_reason="")


def bound(metric: str, limit_s: float, quantile: float | None = None) -> Bound:
    return Bound(metric=metric, limit_s=limit_s, quantile=quantile)  # type: ignore[arg-type]


def slo(*bounds: Bound) -> Slo:
    return Slo(name="slo", bounds=bounds)


def test_good_is_every_bound_and_a_failure_is_never_good():
    found = closed(4, 10 * S, fail=0.2, tpot_ns=S // 50)
    asked = slo(bound("ttft", 0.15), bound("tpot", 0.02), bound("e2e", 0.6))
    good = [
        row
        for row in range(len(found))
        if found["outcome"][row] == "ok"
        and found["first_ns"][row] - found["sent_ns"][row] <= 0.15 * S
        and found["last_ns"][row] - found["sent_ns"][row] <= 0.6 * S
    ]
    result = goodput.judge(found, WINDOW, asked)
    assert (result.good, result.cohort) == (len(good), len(found))
    assert result.attainment.value == len(good) / len(found)
    assert result.goodput_req_per_s.value == pytest.approx(len(good) / 10)
    assert result.goodput_tok_per_s.value == pytest.approx(found["osl"][good].sum() / 10)


@pytest.mark.parametrize(("limit_s", "kept"), [(0.1, True), (0.099999999, False)])
def test_bounds_are_inclusive_to_the_nanosecond(limit_s, kept):
    found = records.from_rows([answer(0, 0, ttft_ns=S // 10)])
    assert goodput.within(found, bound("ttft", limit_s), "sent_ns").tolist() == [kept]
    tpot = records.from_rows([answer(0, 0, tpot_ns=S // 10)])
    assert goodput.within(tpot, bound("tpot", limit_s), "sent_ns").tolist() == [kept]


def test_an_open_loop_counts_from_the_plan_and_one_token_has_no_tpot():
    late = records.from_rows([answer(0, S, osl=1, ttft_ns=S // 10) | {"planned_ns": 0}])
    assert goodput.within(late, bound("ttft", 0.5), "sent_ns").all()
    assert not goodput.within(late, bound("ttft", 0.5), "planned_ns").any()
    assert goodput.within(late, bound("tpot", 0.0), "sent_ns").all()


@pytest.mark.parametrize(
    ("slow", "n", "verdict"), [(0, 2000, "met"), (0, 200, "undecided"), (20, 2000, "undecided"), (100, 2000, "missed")]
)
def test_a_percentile_is_decided_by_the_interval_of_the_share(slow, n, verdict):
    places = set(np.linspace(0, n - 1, slow).astype(int).tolist())
    rows = [answer(i, i * S // 1000, ttft_ns=S if i in places else S // 10, osl=1) for i in range(n)]
    result = goodput.judge(records.from_rows(rows), WINDOW, slo(bound("ttft", 0.5, 0.99)))
    assert result.verdict == verdict


def test_without_a_percentile_every_request_is_meant():
    assert goodput.verdict(Estimate(value=1.0, low=0.9, high=1.0, n=30), None) == "met"
    assert goodput.verdict(Estimate(value=0.999, low=0.99, high=1.0, n=1000), None) == "missed"


def test_one_missed_bound_misses_the_slo_and_failures_miss_any():
    assert goodput.all_of(("met", "missed", "undecided")) == "missed"
    assert goodput.all_of(("met", "undecided")) == "undecided"
    assert goodput.all_of(("met", "met")) == "met"
    down = records.from_rows([failure(i, i, i + 1) for i in range(50)])
    assert goodput.judge(down, WINDOW, slo(bound("ttft", 9.0, 0.5))).verdict == "missed"


def test_no_cohort_no_answer():
    result = goodput.judge(records.EMPTY, None, slo(bound("ttft", 1.0, 0.9)))
    assert (result.verdict, result.attainment.value, result.goodput_req_per_s.value) == ("undecided", None, None)
