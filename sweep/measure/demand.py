"""When a window is as long as demanded, whatever it resolves by then."""

from __future__ import annotations

import numpy as np

from sweep.measure.window import place, slots_of
from sweep.model import Cell, Window
from sweep.records import Records

MIN_WINDOW_S = 20.0
MIN_E2E = 2.0
ROUND_SLACK = 0.1  # of an E2E: two rounds last two mean E2E, which may be a little less than two medians
SETTLING = 4


def demanded_s(cell: Cell, e2e_s: float) -> float:
    """How long the window must be, given the median E2E."""
    if cell.limits.duration_s is not None:
        return max(cell.limits.duration_s, e2e_s)
    return max(MIN_WINDOW_S, (MIN_E2E - ROUND_SLACK if _in_rounds(cell) else MIN_E2E) * e2e_s)


def demanded_end(
    cell: Cell, rows: Records, window: Window | None, e2e_s: float | None, now_ns: int, span_s: float | None = None
) -> int | None:
    """When the window satisfies every demand (or is `span_s` long), or will; None while that cannot be said.

    What led to a begin may differ by the moment it is asked at: an end in the past is kept only if the begin it rests on is
    the begin seen at that end. Where no end is like that, the begins going round in a circle, the latest of them will do if
    the window that ends there is as long as demanded, though not of whole rounds.
    """
    if window is None or e2e_s is None:
        return None
    begin_ns, latest_ns = window.begin_ns, 0
    for _ in range(SETTLING):
        end_ns = _end_after(cell, rows, window, begin_ns, span_s or demanded_s(cell, e2e_s), now_ns)
        if end_ns is None or end_ns > now_ns:
            return end_ns
        again = place(cell, rows, end_ns)
        if again is not None and again.begin_ns == begin_ns:
            return end_ns
        begin_ns, latest_ns = begin_ns if again is None else again.begin_ns, max(end_ns, latest_ns)
    last = place(cell, rows, latest_ns)
    satisfied = last and _end_after(cell, rows, last, last.begin_ns, span_s or demanded_s(cell, e2e_s), now_ns)
    return latest_ns if satisfied and satisfied <= latest_ns else None


def _end_after(cell: Cell, rows: Records, window: Window, begin_ns: int, span_s: float, now_ns: int) -> int | None:
    """The end for a begin: exact with a duration; after whole rounds of a cold closed loop; else now, once all is satisfied.

    A cold closed loop of similar lengths marches in lockstep. A window of whole rounds, as many dispatches a slot as another,
    begins and ends at the same step of the march; a part of a round would bias its throughput by several percent.
    """
    end_ns = begin_ns + round(span_s * 1e9)
    wanted = cell.limits.requests or 0
    if not wanted and not _in_rounds(cell):
        return end_ns if cell.limits.duration_s is not None else max(end_ns, now_ns)
    due_ns = np.sort(rows[window.due][rows[window.due] >= begin_ns])
    if _in_rounds(cell):
        slots = slots_of(cell.load)
        rounds_ns = due_ns[slots::slots]  # the first dispatch after each round
        complete = (rounds_ns >= end_ns) & (slots * np.arange(1, len(rounds_ns) + 1) >= wanted)
        return int(rounds_ns[complete][0]) if complete.any() else None
    if len(due_ns) < wanted:
        return None
    end_ns = max(end_ns, int(due_ns[wanted - 1]) + 1)
    return end_ns if cell.limits.duration_s is not None else max(end_ns, now_ns)


def _in_rounds(cell: Cell) -> bool:
    return cell.load.kind == "closed" and cell.start == "cold" and cell.limits.duration_s is None
