"""Go, enough, abort: a running cell, replayed."""

from __future__ import annotations

from itertools import cycle

import msgspec
import numpy as np
import pytest
from unit.measure.synthetic import S, answer, cell, closed, failure

from sweep import records
from sweep.measure import demand, rates, reasons, stop
from sweep.measure.window import place
from sweep.model import Gate
from sweep.records import Records


def split(found: Records, now_ns: int) -> tuple[Records, Records]:
    done = found.where(found["end_ns"] <= now_ns)
    flying = found.where((found["end_ns"] > now_ns) & (found["sent_ns"] <= now_ns))
    null = np.full(len(flying), records.null_of("end_ns"))
    return done, flying.replace(end_ns=null, outcome=np.full(len(flying), None, dtype=object))


def replay(one, found: Records, until_s: int = 100) -> tuple[stop.Decision, int]:
    for now_ns in range(S // 2, until_s * S, S // 2):
        decision = stop.decide(one, *split(found, now_ns), 0, now_ns)
        if decision.kind != "go":
            return decision, now_ns
    return decision, now_ns


@pytest.fixture(scope="module")
def steady() -> Records:
    return closed(4, 40 * S)


def test_the_window_lasts_twenty_seconds(steady):
    decision, now_ns = replay(cell(start="equilibrium"), steady)
    assert decision.kind == "enough"
    assert decision.end_ns == now_ns
    window = place(cell(start="equilibrium"), steady, now_ns)
    assert window is not None
    assert 20.0 <= window.seconds < 20.6


def cohort(one, found: Records, end_ns: int | None) -> int:
    assert end_ns is not None
    window = place(one, found, end_ns)
    assert window is not None
    return int(((found["sent_ns"] >= window.begin_ns) & (found["sent_ns"] < window.end_ns)).sum())


def test_a_cold_closed_loop_goes_whole_rounds(steady):
    decision, now_ns = replay(cell(), steady)
    assert decision.end_ns is not None
    assert 0 <= now_ns - decision.end_ns < S
    assert cohort(cell(), steady, decision.end_ns) % 4 == 0
    more, _ = replay(cell(requests=301), steady)
    assert cohort(cell(requests=301), steady, more.end_ns) == 304


def test_whole_rounds_measure_a_lockstep_without_bias():
    """Eight slots march: prefills one after another, then all decode. A round is 3.95 s, of which 3.15 s bring tokens."""
    rows, at_ns = [], 0
    while at_ns < 60 * S:
        for slot in range(8):
            rows.append(answer(len(rows), at_ns + slot, ttft_ns=(slot + 1) * S // 10, tpot_ns=S // 20, osl=64))
        at_ns = rows[-1]["end_ns"]
    found, one = records.from_rows(rows), cell(level=8)
    decision, _ = replay(one, found)
    window = place(one, found, decision.end_ns)
    assert window is not None
    truth = 8 * 64 / ((8 * S // 10 + 63 * S // 20 + 1007) / 1e9)
    assert rates.rates(found, window)["output_tok_per_s"].value == pytest.approx(truth, rel=0.01)
    ragged = msgspec.structs.replace(window, end_ns=window.end_ns + S)
    assert rates.rates(found, ragged)["output_tok_per_s"].value != pytest.approx(truth, rel=0.01)


def test_or_two_end_to_end_times():
    slow = closed(2, 60 * S, osl=100, tpot_ns=S // 8)
    decision, now_ns = replay(cell(level=2), slow, 120)
    window = place(cell(level=2), slow, now_ns)
    assert decision.kind == "enough"
    assert window is not None
    assert 24.5 < window.seconds < 26


def test_begins_that_go_round_in_a_circle_do_not_keep_a_cell_going(steady, monkeypatch):
    """Seen in virtual time: MSER-5 found another begin at every end, and the cell went on until its cap."""
    begins = cycle([2 * S, 5 * S, 4 * S])

    def circling(one, found, now_ns):
        window = place(one, found, now_ns)
        return window and msgspec.structs.replace(window, begin_ns=next(begins))

    monkeypatch.setattr(demand, "place", circling)
    decision, now_ns = replay(cell(), steady)
    assert (decision.kind, decision.reason) == ("enough", "long enough")
    assert now_ns < 35 * S
    assert decision.end_ns >= 22 * S


def test_a_demanded_length_is_exact(steady):
    one = cell(duration_s=5.0)
    decision, _ = replay(one, steady)
    assert decision.kind == "enough"
    window = place(one, steady, decision.end_ns)
    assert window is not None
    assert window.seconds == 5.0


def test_a_demanded_length_is_exact_in_an_open_loop():
    rng = np.random.default_rng(5)
    rows = [answer(i, at, ttft_ns=int(rng.integers(S // 10, S))) for i, at in enumerate(range(0, 30 * S, S // 20))]
    one, found = cell("constant", 20.0, duration_s=5.0), records.from_rows(rows)
    decision, _ = replay(one, found)
    window = place(one, found, decision.end_ns)
    assert window is not None
    assert window.seconds == 5.0


def test_but_never_below_one_end_to_end_time():
    slow = closed(2, 60 * S, osl=100, tpot_ns=S // 10)
    one = cell(level=2, duration_s=1.0)
    decision, _ = replay(one, slow)
    window = place(one, slow, decision.end_ns)
    assert window is not None
    assert 9.9 < window.seconds < 10.5


def test_the_cohort_has_the_requests_asked_for(steady):
    one = cell(duration_s=1.0, requests=150)
    decision, _ = replay(one, steady)
    window = place(one, steady, decision.end_ns)
    assert window is not None
    due_ns = steady["sent_ns"]
    assert ((due_ns >= window.begin_ns) & (due_ns < window.end_ns)).sum() == 150


def test_the_cap_ends_it(steady):
    decision, now_ns = replay(cell(cap_s=10.0), steady)
    assert (decision.kind, decision.reason, now_ns) == ("enough", reasons.CAP, 10 * S)


def test_a_cap_before_any_token_aborts():
    mute = records.from_rows([{"request": 0, "worker": 0, "sent_ns": 0, "end_ns": 90 * S, "outcome": "timeout_idle"}])
    decision, _ = replay(cell(level=1, cap_s=10.0), mute)
    assert (decision.kind, decision.reason) == ("abort", reasons.CAP)


def test_failures_abort_from_twenty_on():
    rows = [failure(i, i * S // 10, i * S // 10 + S // 20) for i in range(100)]
    assert stop.decide(cell(level=1), *split(records.from_rows(rows[:19]), 50 * S), 0, 5 * S).kind == "go"
    decision, now_ns = replay(cell(level=1), records.from_rows(rows))
    assert (decision.kind, decision.reason, now_ns) == ("abort", reasons.NO_SUCCESS, 2 * S)


def test_half_failing_is_enough_to_abort():
    bad = closed(4, 60 * S, fail=0.7)
    decision, _ = replay(cell(), bad)
    assert (decision.kind, decision.reason) == ("abort", reasons.MOST_FAIL)
    assert replay(cell(), closed(4, 40 * S, fail=0.3))[0].kind == "enough"


def test_what_is_refused_is_told_apart_from_what_fails():
    bad = closed(4, 60 * S, fail=0.7)
    refusing = bad.replace(outcome=np.where(bad["outcome"] == "ok", "ok", "rate_limited").astype(object))
    decision, _ = replay(cell(), refusing)
    assert (decision.kind, decision.reason) == ("abort", reasons.MOST_REFUSED)
    assert decision.live.refused > decision.live.failed == 0


def test_the_person_watching_sees_truth(steady):
    now_ns = 15 * S
    done, flying = split(steady, now_ns)
    live = stop.decide(cell(), done, flying, 0, now_ns).live
    tokens = ((steady.chunk_ns > 5 * S) & (steady.chunk_ns <= now_ns)).sum() / 10
    assert live.output_tok_per_s == pytest.approx(tokens, rel=0.05)
    assert (live.ended, live.failed, live.in_flight, live.stage) == (len(done), 0, 4, "window")
    assert live.left_s == pytest.approx(20 - 15 + 1, abs=1.5)


def test_the_whole_set_of_an_offline_run():
    rows = [answer(i, 0, ttft_ns=S + i) for i in range(30)]
    one, found = cell("offline", 1.0, requests=30), records.from_rows(rows)
    assert stop.decide(one, *split(found, S), 0, S).kind == "go"
    assert stop.decide(one, *split(found, 9 * S), 0, 9 * S).kind == "enough"


def queue(rate: float, service_s: float, n: int, seed: int) -> Records:
    """An M/M/1 queue that answers in order."""
    rng = np.random.default_rng(seed)
    due = np.cumsum(rng.exponential(1 / rate, n))
    took, free, rows = rng.exponential(service_s, n), 0.0, []
    for i in range(n):
        free = max(free, due[i]) + took[i]
        rows.append(answer(i, int(due[i] * S), ttft_ns=max(1, int((free - due[i]) * S)), osl=1))
    return records.from_rows(rows)


@pytest.mark.parametrize("ratio", [1.1, 1.5, 3.0])
def test_an_open_loop_beyond_capacity_is_a_verdict(ratio):
    decision, _ = replay(cell("poisson", 40.0, duration_s=500.0), queue(40.0, ratio / 40, 5000, 1), 100)
    assert (decision.kind, decision.reason) == ("abort", reasons.OVERLOAD)


@pytest.mark.parametrize("seed", range(3))
def test_a_busy_open_loop_is_not(seed):
    decision, _ = replay(cell("poisson", 40.0, duration_s=500.0), queue(40.0, 0.9 / 40, 4500, seed), 100)
    assert decision.kind == "go"


@pytest.mark.parametrize(("ratio", "reason"), [(0.7, reasons.BUDGET), (1.2, reasons.OVERLOAD)])
def test_where_the_backlog_grows_the_verdict_is_waited_for(ratio, reason):
    """No more precise than that in its time, a cell would end before anybody could tell that it is beyond capacity."""
    gates = (Gate(metric="ttft_s", quantile=0.5, width=0.01),)
    decision, now_ns = replay(cell("poisson", 40.0, gates=gates, stretch=1.0), queue(40.0, ratio / 40, 4000, 1), 90)
    assert decision.reason == reason
    assert (now_ns >= 60 * S) == (reason == reasons.OVERLOAD)


@pytest.mark.parametrize("kind", ["closed", "poisson", "offline", "single"])
def test_before_anything_happened_it_goes_on(kind):
    decision = stop.decide(cell(kind, 1.0), records.EMPTY, records.EMPTY, 0, S)
    assert decision.kind == "go"
    assert decision.live.ttft_p50_s is None
    assert decision.live.output_tok_per_s is None
