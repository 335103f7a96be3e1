"""An open loop far above the capacity: E2E grows as fast as time goes by, so three of it never pass."""

from __future__ import annotations

import numpy as np
import pytest

from sweep import records
from sweep.measure.overload import overloaded

S = 1e9
RATE = 8.0
UNLOADED_S = 25.0


def judged(end_s: np.ndarray, due_s: np.ndarray, now_s: float) -> bool:
    gone = end_s <= now_s
    come = due_s <= now_s
    ends = np.where(gone[come], end_s[come] * S, records.null_of("end_ns")).astype(np.int64)
    columns = {"planned_ns": (due_s[come] * S).astype(np.int64), "end_ns": ends}
    empty, start = np.empty(0, np.int64), np.zeros(int(come.sum()) + 1, np.int64)
    e2e_s = float(np.median((end_s - due_s)[gone])) if gone.any() else None
    return overloaded(records.Records(columns, start, empty, empty), e2e_s, round(now_s * S))


def arrivals(seconds: float) -> np.ndarray:
    gaps = np.random.default_rng(3).exponential(1 / RATE, round(RATE * seconds))
    return np.cumsum(gaps)


@pytest.mark.parametrize("times", [2.5, 3.5, 10.0])
def test_far_above_the_capacity_it_is_found_after_ten_unloaded_latencies(times: float) -> None:
    due_s = arrivals(600)
    end_s = due_s[0] + UNLOADED_S + np.arange(len(due_s)) * times / RATE
    assert judged(end_s, due_s, 400.0)
    assert not judged(end_s, due_s, 60.0)


def test_an_endpoint_that_settles_at_six_times_its_first_latency_is_not_overloaded() -> None:
    due_s = arrivals(900)
    e2e_s = UNLOADED_S * np.minimum(6.0, 1 + due_s / 10)
    end_s = due_s + e2e_s * np.random.default_rng(4).uniform(0.7, 1.3, len(due_s))
    assert not any(judged(end_s, due_s, now_s) for now_s in np.arange(60.0, 880.0, 10.0))
