"""What holds for any records: conservation, invariance, and answers that a brute force agrees with."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.measure.synthetic import S, answer, cell, closed_rows, failure

from sweep import records
from sweep.measure import chunks, goodput, joint, jointcode, point, rates
from sweep.measure.window import place, with_phases
from sweep.model import Bound, Outcome, Window

FAST = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Any mixture of answers, failures, cut and open requests, one to twelve."""
    found = []
    for request in range(draw(st.integers(1, 12))):
        sent_ns = draw(st.integers(0, 10 * S))
        kind = draw(st.sampled_from(["ok", "ok", "ok", "cut", "truncated", "http_error", "unsent", "open"]))
        if kind == "unsent":
            found.append({"request": request, "planned_ns": sent_ns, "outcome": kind})
            continue
        if kind == "http_error":
            found.append(failure(request, sent_ns, sent_ns + draw(st.integers(0, S))))
            continue
        brought = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
        gaps = draw(st.lists(st.integers(0, S), min_size=len(brought), max_size=len(brought)))
        times = (sent_ns + np.cumsum(gaps)).tolist()
        row = answer(request, sent_ns) | {
            "first_ns": times[0], "last_ns": times[-1], "end_ns": times[-1], "chunks": len(times), "outcome": kind,
            "osl": draw(st.integers(1, 40)), "chunk_ns": times, "chunk_tokens": brought,
        }  # fmt: skip
        if kind != "ok":
            row |= {"osl": None, "isl": None}
        if kind == "open":
            row |= {"end_ns": None, "outcome": None}
        found.append(row)
    return found


@FAST
@given(rows())
def test_delivered_tokens_add_up_to_each_answers_own_count(given_rows):
    found = records.from_rows(given_rows)
    tokens = chunks.delivered_tokens(found)
    assert (tokens >= 0).all()
    for row in np.flatnonzero(found["outcome"] == Outcome.OK):
        assert tokens[slice(*found.chunk_start[row : row + 2])].sum() == found["osl"][row]


@FAST
@given(rows(), st.integers(0, 5 * S), st.integers(1000, 10 * S))
def test_rates_are_the_events_inside(given_rows, begin_ns, length_ns):
    window = Window(begin_ns=begin_ns, end_ns=begin_ns + length_ns, begin_reason="", end_reason="")
    found = records.from_rows(given_rows)
    counted = found.where(chunks.counts_for_throughput(found))
    inside = (counted.chunk_ns >= begin_ns) & (counted.chunk_ns < window.end_ns)
    tokens = chunks.delivered_tokens(counted)[inside].sum()
    rate = rates.rates(found, window)["output_tok_per_s"].value
    assert (rate or 0.0) * window.seconds == np.float64(tokens) or abs((rate or 0.0) * window.seconds - tokens) < 1e-6 * tokens
    mean, peak = rates.concurrency(found, window)
    assert mean.value is not None
    assert peak is not None
    assert 0 <= mean.value <= peak + 1e-9 <= len(found) + 1e-9


@FAST
@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_never_shows(given_rows, random):
    one = cell(level=1, duration_s=1.0)
    window = Window(begin_ns=0, end_ns=9 * S, begin_reason="", end_reason="")
    shuffled = list(given_rows)
    random.shuffle(shuffled)
    points = []
    for each in (given_rows, shuffled):
        found = with_phases(records.from_rows(each), window)
        points.append(point.measure(one, found, window, (), None, None, "t", "duration"))
    assert points[0] == points[1]
    assert sum(points[0].outcomes.values()) == points[0].cohort
    assert sum(points[0].outcomes_all.values()) == len(given_rows)


@FAST
@given(st.integers(1, 9), st.integers(1, 3), st.floats(0, 0.6), st.integers(0, 10**6), st.integers(S, 6 * S))
def test_a_window_placed_early_is_the_window_placed_late(slots, workers, fail, seed, now_ns):
    made, _ = closed_rows(slots, 8 * S, seed=seed, workers=workers, fail=fail, stagger_ns=S // 200)
    found = records.from_rows(made)
    one = cell(level=slots, duration_s=1.0)
    seen = found.where(found["sent_ns"] < now_ns)
    unfinished = seen["end_ns"] > now_ns
    masked = seen.replace(end_ns=np.where(unfinished, records.null_of("end_ns"), seen["end_ns"]))
    assert place(one, masked, now_ns) == place(one, found, now_ns)


axis = st.integers(0, 4_000_000_000)


@FAST
@given(
    st.lists(st.tuples(axis, st.none() | axis, axis, st.integers(0, 200_000)), max_size=40),
    st.tuples(axis, axis, axis),
    st.booleans(),
)
def test_a_joint_table_brackets_the_truth_and_survives_its_text(requests, limits, as_cells):
    ttft, e2e = (np.array([r[i] for r in requests], np.int64) for i in (0, 2))
    tpot = np.array([0 if r[1] is None else r[1] + 1 for r in requests], np.int64)
    columns = joint.from_columns(ttft, tpot, e2e, np.array([r[3] for r in requests], np.int64), 3)
    held = joint._coarsened(columns, 2) if as_cells else columns
    assert jointcode.encode(jointcode.decode(jointcode.encode(held))) == jointcode.encode(held)
    bounds = [Bound(metric=m, limit_s=us / 1e6) for m, us in zip(("ttft", "tpot", "e2e"), limits, strict=True)]
    kept = [r for r in requests if r[0] <= limits[0] and (r[1] is None or r[1] <= limits[1]) and r[2] <= limits[2]]
    found = joint.good(held, bounds)
    assert found.low <= len(kept) <= found.high
    assert found.tokens_low <= sum(r[3] for r in kept) <= found.tokens_high
    assert as_cells or (found.low, found.tokens_low) == (found.high, found.tokens_high)


@FAST
@given(rows(), st.integers(0, 2 * S))
def test_a_looser_bound_never_loses_a_request(given_rows, limit_ns):
    found = records.from_rows(given_rows)
    for metric in ("ttft", "tpot", "e2e"):
        tight = goodput.within(found, Bound(metric=metric, limit_s=limit_ns / 1e9), "sent_ns")
        loose = goodput.within(found, Bound(metric=metric, limit_s=2 * limit_ns / 1e9), "sent_ns")
        assert not (tight & ~loose).any()
        assert not (loose & (found["outcome"] != Outcome.OK)).any()
