"""Go on, enough, or abort: asked about twice a second of a running cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sweep.measure import worth
from sweep.measure.demand import demanded_end
from sweep.measure.live import live
from sweep.measure.overload import overloaded
from sweep.measure.reasons import CAP, DURATION, LONG_ENOUGH, MOST_FAIL, MOST_REFUSED, NO_SUCCESS, OVERLOAD, WHOLE_SET
from sweep.measure.window import due_column, is_open, place, slots_of
from sweep.model import Cell, Live, Outcome
from sweep.records import INT, ORDER, Records

JUDGE_FAILURES_FROM = 20
FAILURES_TOLERATED = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """`end_ns` is the end of the window, None while it is open. After "enough" the load goes on until the cohort has ended."""

    kind: Literal["go", "enough", "abort"]
    end_ns: int | None
    reason: str
    live: Live


def decide(cell: Cell, done: Records, open: Records, started_ns: int, now_ns: int, asked_ns: int | None = None) -> Decision:
    """Whether the cell may end, from the requests that ended and those in flight by `now_ns`.

    Reads columns; chunks only when a checkpoint was passed since `asked_ns`, the moment it was last asked.

    Enough: the window is as long as demanded (`duration_s`, else max(20 s, 2 median E2E); never below one median E2E), the
    cohort has `requests`, a cold closed loop has gone whole rounds, and everything asked is known at this checkpoint and at
    the one before, or would take longer than the cell may; or a smaller load is sure to deliver more; or `cap_s` is over.
    Abort: half of the requests fail, the backlog of an open loop grows, or the cap comes before a steady state.
    """
    rows = _together(done, open)
    outcome = done["outcome"]
    failed = outcome != Outcome.OK.value
    counted = np.ones(len(done), bool)
    counted[failed] = ~np.isin(outcome[failed], [Outcome.CUT.value, Outcome.UNSENT.value])
    failed &= counted
    e2e_s = _median_e2e_s(cell, done, failed)
    window = place(cell, rows, now_ns)
    end_ns = demanded_end(cell, rows, window, e2e_s, now_ns)
    reason = DURATION if cell.limits.duration_s else LONG_ENOUGH
    if window is not None and e2e_s is not None:
        seen = worth.Seen(done, open, rows, window, e2e_s, started_ns, now_ns, asked_ns)
        end_ns, reason = worth.end(cell, seen, end_ns, reason)
    watched = live(cell, done, rows, failed, window, end_ns, e2e_s, started_ns, now_ns)

    def decided(kind: Literal["go", "enough", "abort"], reason: str, at_ns: int | None = None) -> Decision:
        return Decision(kind, at_ns, reason, watched)

    failures, refused = int(failed.sum()), int((outcome == Outcome.RATE_LIMITED.value).sum())
    if len(done) >= JUDGE_FAILURES_FROM and failures > FAILURES_TOLERATED * int(counted.sum()):
        most = MOST_REFUSED if refused > failures / 2 else MOST_FAIL
        return decided("abort", NO_SUCCESS if failures == int(counted.sum()) else most, now_ns)
    if is_open(cell.load) and overloaded(rows, e2e_s, now_ns):
        return decided("abort", OVERLOAD, now_ns)
    if cell.load.kind == "offline":
        if len(open) or len(done) < (cell.limits.requests or 1):
            return decided("go", "the set is being answered")
        return decided("enough", WHOLE_SET, int(done["end_ns"].max()) + 1)
    if window is not None and end_ns is not None and end_ns <= now_ns:
        return decided("enough", reason, end_ns)
    if now_ns - started_ns >= cell.limits.cap_s * 1e9:
        return decided("abort", CAP, now_ns) if window is None else decided("enough", CAP, now_ns)
    return decided("go", "no steady state yet" if window is None else "the window is open")


def _together(done: Records, open: Records) -> Records:
    columns: dict[str, NDArray[Any]] = {name: np.concatenate([done[name], open[name]]) for name in ORDER if name in _READ}
    empty = np.empty(0, np.int64)
    return Records(columns, np.zeros(len(done) + len(open) + 1, np.int64), empty, empty)


_READ = {name for name in INT if name.endswith("_ns")} | {"request", "worker", "osl", "outcome", "chunks"}


def _median_e2e_s(cell: Cell, done: Records, failed: NDArray[np.bool_]) -> float | None:
    """Of whole requests: those that begin in mid-flight end too soon to say."""
    warm = slots_of(cell.load) if cell.load.kind == "closed" and cell.start == "equilibrium" else 0
    whole = ~failed & done.present("last_ns") & (done["request"] >= cell.first_request + warm)
    took_ns = (done["last_ns"] - done[due_column(cell.load)])[whole]
    return float(np.median(took_ns)) / 1e9 if len(took_ns) else None
