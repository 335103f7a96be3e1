"""What a running cell knows, and how much longer it would take to know the rest."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from unit.measure.synthetic import S, answer, cell, closed
from unit.measure.test_stop import replay, split

from sweep import records
from sweep.measure import precision, reasons
from sweep.measure.window import place
from sweep.model import Bound, Estimate, Gate, Limits, Slo
from sweep.plan.effort import MIDDLE, STRETCH

TTFT = Gate(metric="ttft_s", quantile=0.5, width=0.1)
TAIL = Slo(name="tail", bounds=(Bound(metric="ttft", limit_s=0.19, quantile=0.9),))


def gated(level: float = 4, start: str = "equilibrium", **limits):
    one = cell(level=level, start=start)
    wishes = {"gates": MIDDLE, "stretch": STRETCH} | limits
    return msgspec.structs.replace(one, limits=msgspec.structs.replace(one.limits, **wishes))


def test_an_interval_twice_too_wide_takes_four_times_as_long():
    known = precision.of_interval(TTFT, Estimate(value=1.0, low=0.8, high=1.2, n=50))
    assert known.longer == pytest.approx(4)
    assert not known.held
    assert precision.of_interval(TTFT, Estimate(value=1.0, low=0.96, high=1.04, n=50)).settled
    assert precision.of_interval(TTFT, Estimate(value=1.0, low=0.8, high=None, n=5)).longer > 1


def test_a_share_far_from_its_percentile_is_decided_a_near_one_takes_long():
    bound = TAIL.bounds[0]
    assert precision.of_share("tail", bound, Estimate(value=0.99, low=0.95, high=1.0)).held
    assert precision.of_share("tail", bound, Estimate(value=0.5, low=0.4, high=0.6)).held
    near = precision.of_share("tail", bound, Estimate(value=0.91, low=0.87, high=0.94))
    assert near.longer == pytest.approx(16)
    flawless = precision.of_share("tail", bound, Estimate(value=1.0, low=0.8, high=1.0, n=20, n_eff=15.0))
    assert flawless.longer == pytest.approx(35 / 15, rel=0.01)
    assert type(flawless.longer) is float  # it goes into findings, which are written as JSON


def test_standing_agrees_with_the_finished_point():
    found, one = closed(4, 60 * S), gated()
    now_ns = 40 * S
    done, flying = split(found, now_ns)
    rows = records.concat([done, flying])
    window = place(one, rows, now_ns)
    assert window is not None
    known = {each.what: each for each in precision.standing(one, done, flying, rows, window)}
    assert set(known) == {"throughput", "TPOT p50", "TTFT p50"}
    assert known["TPOT p50"].settled
    assert known["TTFT p50"].held


def wandering(spread: float, until_s: int = 300) -> records.Records:
    """Four slots whose TTFT wanders."""
    rng, rows = np.random.default_rng(2), []
    for slot in range(4):
        at_ns, pace = slot * S // 7, 0.0
        while at_ns < until_s * S:
            pace = 0.8 * pace + rng.normal(0, spread)
            row = answer(0, at_ns, ttft_ns=int(S / 5 * np.exp(pace)), tpot_ns=S // 100, osl=64)
            rows.append(row)
            at_ns = row["end_ns"] + 1000
    rows.sort(key=lambda row: row["sent_ns"])
    return records.from_rows([{**row, "request": number} for number, row in enumerate(rows)])


def test_a_cell_that_knows_enough_ends_at_its_shortest_window():
    decision, now_ns = replay(gated(), closed(4, 60 * S, ttft_ns=S // 10, osl=64))
    assert (decision.kind, decision.reason) == ("enough", "long enough")
    assert now_ns < 22 * S


def test_a_noisy_one_goes_on_until_it_knows_or_may_no_longer():
    decision, now_ns = replay(gated(stretch=20.0), wandering(0.12, 150), 140)
    assert (decision.kind, decision.reason) == ("enough", "long enough")
    assert now_ns > 25 * S
    hopeless, soon_ns = replay(gated(stretch=1.5), wandering(0.6, 80), 70)
    assert hopeless.reason == reasons.BUDGET
    assert soon_ns <= 32 * S


def test_a_share_of_a_budget_ends_it():
    decision, now_ns = replay(gated(stretch=None, spend_s=45.0), wandering(0.6, 80), 70)
    assert decision.reason == reasons.BUDGET
    assert now_ns <= 46 * S


def test_one_slow_slot_is_measured_until_a_median_has_an_interval():
    rows, at_ns = [], 0
    for number in range(20):
        rows.append(answer(number, at_ns, ttft_ns=S // 10, tpot_ns=S // 10, osl=100))
        at_ns = rows[-1]["end_ns"] + 1000
    decision, now_ns = replay(gated(level=1), records.from_rows(rows), 190)
    assert decision.reason == "long enough"
    assert 80 * S < now_ns < 95 * S


def test_undecided_percentiles_of_an_slo_are_waited_for():
    found = closed(4, 200 * S)
    plain, _ = replay(gated(), found)
    decision, now_ns = replay(gated(slos=(TAIL,), stretch=50.0), found, 190)
    assert plain.reason == decision.reason == "long enough"
    assert now_ns > 25 * S


def test_the_limits_of_an_ungated_cell_say_nothing_about_precision():
    assert not Limits().gates
    assert replay(cell(start="equilibrium"), wandering(0.6, 60), 50)[0].reason == "long enough"


def slow(until_s: int) -> records.Records:
    """Four slots that begin in mid-flight, then answer in 20 s at 20 tokens a second together."""
    rows = []
    for slot in range(4):
        at_ns, osl = 0, 25 * (slot + 1)
        while at_ns < until_s * S:
            rows.append(answer(0, at_ns, ttft_ns=S // 5, tpot_ns=S // 5, osl=osl))
            at_ns, osl = rows[-1]["end_ns"] + 1000, 100
    rows.sort(key=lambda row: row["sent_ns"])
    return records.from_rows([{**row, "request": number} for number, row in enumerate(rows)])


def bounded(metric: str, limit_s: float) -> Slo:
    return Slo(name="one", bounds=(Bound(metric=metric, limit_s=limit_s, quantile=0.5),))


@pytest.mark.parametrize(
    ("rival", "limits", "reason", "ended_s"),
    [
        (25.0, {}, reasons.OUTDONE, 25),  # when the first whole request had ended
        (19.0, {}, reasons.LONG_ENOUGH, 42),
        (None, {}, reasons.LONG_ENOUGH, 42),
        (25.0, {"duration_s": 30.0, "gates": ()}, reasons.DURATION, 30),
        (25.0, {"slos": (bounded("ttft", 1.0),)}, reasons.LONG_ENOUGH, 60),
        (25.0, {"slos": (bounded("ttft", 0.1),)}, reasons.OUTDONE, 60),
    ],
)
def test_a_load_that_a_smaller_one_outdoes_is_measured_for_one_round(rival, limits, reason, ended_s):
    """Unless its length is demanded, or it may meet an SLO."""
    one = msgspec.structs.replace(gated(**limits), rival_tok_per_s=rival)
    decision, now_ns = replay(one, slow(100), 90)
    assert (decision.kind, decision.reason) == ("enough", reason)
    assert now_ns / S == pytest.approx(ended_s, abs=2)
