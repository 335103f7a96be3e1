"""Go on, enough, or abort: asked about twice a second of a running cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.measure import precision
from sweep.measure.overload import overloaded
from sweep.measure.saturation import SETTLED_E2E, WAITING, opening_s
from sweep.measure.window import due_column, is_open, place, slots_of
from sweep.model import Cell, Live, Outcome, Window
from sweep.records import INT, ORDER, Records

MIN_WINDOW_S = 20.0
MIN_E2E = 2.0
FEWEST = 8  # requests whose median has an interval
UNDER_WAY = 0.1  # of an E2E: until an answer's pace can be told
ROUND_SLACK = 0.1  # of an E2E: two rounds last two mean E2E, which may be a little less than two medians
SETTLING = 4
JUDGE_FAILURES_FROM = 20
FAILURES_TOLERATED = 0.5
LIVE_S = 10.0  # what "now" means to somebody watching
CHECKPOINT = 1.5  # the window at one checkpoint over that at the one before
WORTH_IT = 1.25  # of what a cell may measure: what would take longer is not waited for

CAP, TOKEN_CAP, BUDGET = "cap", "token cap", "as precise as its time allows"
NO_SUCCESS, MOST_FAIL, MOST_REFUSED = "no request succeeds", "most requests fail", "most requests are refused as over capacity"
OVERLOAD = "offered > capacity"
ABORTED = frozenset({NO_SUCCESS, MOST_FAIL, MOST_REFUSED, OVERLOAD})  # reasons after which a point proves nothing
UNRESOLVED = frozenset({CAP, TOKEN_CAP, BUDGET})  # reasons that ended a window before everything asked of it was known


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
    the one before, or would take longer than the cell may; or `cap_s` is over. Abort: half of the requests fail, the backlog
    of an open loop grows, or the cap comes before a steady state.
    """
    rows = _together(done, open)
    outcome = done["outcome"]
    failed = outcome != Outcome.OK.value
    counted = np.ones(len(done), bool)
    counted[failed] = ~np.isin(outcome[failed], [Outcome.CUT.value, Outcome.UNSENT.value])
    failed &= counted
    e2e_s = _median_e2e_s(cell, done, failed)
    window = place(cell, rows, now_ns)
    end_ns = _demanded_end(cell, rows, window, e2e_s, now_ns)
    reason = "duration" if cell.limits.duration_s else "long enough"
    if window is not None and e2e_s is not None and end_ns is not None and end_ns <= now_ns:
        seen = _Seen(done, open, rows, window, e2e_s, started_ns, now_ns, asked_ns)
        end_ns, reason = _known_end(cell, seen, (end_ns, reason))
    live = _live(cell, done, rows, failed, window, end_ns, e2e_s, started_ns, now_ns)

    def decided(kind: Literal["go", "enough", "abort"], reason: str, at_ns: int | None = None) -> Decision:
        return Decision(kind, at_ns, reason, live)

    failures, refused = int(failed.sum()), int((outcome == Outcome.RATE_LIMITED.value).sum())
    if len(done) >= JUDGE_FAILURES_FROM and failures > FAILURES_TOLERATED * int(counted.sum()):
        most = MOST_REFUSED if refused > failures / 2 else MOST_FAIL
        return decided("abort", NO_SUCCESS if failures == int(counted.sum()) else most, now_ns)
    if is_open(cell.load) and overloaded(rows, e2e_s, now_ns):
        return decided("abort", OVERLOAD, now_ns)
    if cell.load.kind == "offline":
        if len(open) or len(done) < (cell.limits.requests or 1):
            return decided("go", "the set is being answered")
        return decided("enough", "the whole set is answered", int(done["end_ns"].max()) + 1)
    if window is not None and end_ns is not None and end_ns <= now_ns:
        return decided("enough", reason, end_ns)
    if now_ns - started_ns >= cell.limits.cap_s * 1e9:
        return decided("abort", CAP, now_ns) if window is None else decided("enough", CAP, now_ns)
    return decided("go", "no steady state yet" if window is None else "the window is open")


def demanded_s(cell: Cell, e2e_s: float) -> float:
    """How long the window must be, given the median E2E."""
    if cell.limits.duration_s is not None:
        return max(cell.limits.duration_s, e2e_s)
    return max(MIN_WINDOW_S, (MIN_E2E - ROUND_SLACK if _in_rounds(cell) else MIN_E2E) * e2e_s)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A cell whose window is as long as demanded. `rows` are the columns of `done` and `open` together."""

    done: Records
    open: Records
    rows: Records
    window: Window
    e2e_s: float
    started_ns: int
    now_ns: int
    asked_ns: int | None

    @property
    def passed_s(self) -> float:
        return (self.now_ns - self.window.begin_ns) / 1e9

    def standing(self, cell: Cell, span_s: float) -> list[precision.Known]:
        first = msgspec.structs.replace(self.window, end_ns=self.window.begin_ns + round(span_s * 1e9))
        return precision.standing(cell, self.done, self.open, self.rows, first)


def _known_end(cell: Cell, seen: _Seen, shortest: tuple[int, str]) -> tuple[int | None, str]:
    """When everything asked of the cell is known and why no more is waited for; None while that is worth waiting for.

    Checkpoints are the shortest window times powers of 1.5. A window that ends at the first is compared with one 1.5 times
    shorter; what is known twice as well as asked needs no second look.
    """
    if not (cell.limits.gates or cell.limits.slos):
        return shortest
    least_s = _shortest_s(cell, seen)
    may_s = _may_measure_s(cell, seen, least_s)
    if seen.passed_s < least_s:
        return (None, "") if least_s <= WORTH_IT * may_s else (shortest[0], BUDGET)
    span_s = least_s * CHECKPOINT ** np.floor(np.log(seen.passed_s / least_s) / np.log(CHECKPOINT) + 1e-9)
    over = seen.passed_s >= may_s
    if not over and seen.asked_ns is not None and seen.asked_ns >= seen.window.begin_ns + round(span_s * 1e9):
        return None, ""
    asked, before = seen.standing(cell, span_s), seen.standing(cell, span_s / CHECKPOINT)
    left = [now for now, then in zip(asked, before, strict=True) if not (now.settled or (now.held and then.held))]
    worth_it = any(max(CHECKPOINT, now.longer) * span_s <= WORTH_IT * may_s for now in left)
    if worth_it and not over and not _restless(cell, seen, may_s):
        return None, ""
    return _demanded_end(cell, seen.rows, seen.window, seen.e2e_s, seen.now_ns, span_s), BUDGET if left else shortest[1]


def _restless(cell: Cell, seen: _Seen, may_s: float) -> bool:
    """Whether the endpoint is full, so that its state will not settle within what the cell may measure.

    Told by the first half of the slots of an equilibrium start: had they met a queue, all would look alike.
    """
    if cell.load.kind != "closed" or cell.start != "equilibrium" or may_s >= SETTLED_E2E * seen.e2e_s:
        return False
    alone_s = opening_s(cell, seen.rows, slots_of(cell.load) // 2)
    due = (seen.rows[seen.window.due] >= seen.window.begin_ns) & seen.rows.present("first_ns")
    if alone_s is None or not due.any():
        return False
    return float(np.median((seen.rows["first_ns"] - seen.rows["sent_ns"])[due])) / 1e9 > WAITING * alone_s


def _shortest_s(cell: Cell, seen: _Seen) -> float:
    """The first checkpoint: as long as demanded, and until enough requests were due for their median to have an interval."""
    begin_ns, due_ns = seen.window.begin_ns, seen.rows[seen.window.due]
    due_ns = due_ns[due_ns >= begin_ns]
    if len(due_ns) < FEWEST:
        enough_s = seen.passed_s * FEWEST / max(1, len(due_ns))
    else:
        enough_s = (int(np.partition(due_ns, FEWEST - 1)[FEWEST - 1]) - begin_ns) / 1e9 + UNDER_WAY * seen.e2e_s
    return max(demanded_s(cell, seen.e2e_s), enough_s)


def _may_measure_s(cell: Cell, seen: _Seen, least_s: float) -> float:
    """The longest window the limits allow, the tail of one E2E kept free of a budget's share."""
    limits, begun_s = cell.limits, (seen.window.begin_ns - seen.started_ns) / 1e9
    allowed_s = [limits.cap_s - begun_s]
    if limits.stretch is not None:
        allowed_s.append(limits.stretch * least_s)
    if limits.spend_s is not None:
        allowed_s.append(limits.spend_s - begun_s - seen.e2e_s)
    return min(allowed_s)


def _demanded_end(
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


def _live(
    cell: Cell,
    done: Records,
    rows: Records,
    failed: NDArray[np.bool_],
    window: Window | None,
    end_ns: int | None,
    e2e_s: float | None,
    started_ns: int,
    now_ns: int,
) -> Live:
    recent_ns = now_ns - round(LIVE_S * 1e9)
    refused = int((done["outcome"] == Outcome.RATE_LIMITED.value).sum())
    fresh = rows.present("first_ns") & (rows["first_ns"] >= recent_ns)
    ttft_ns = (rows["first_ns"] - rows[due_column(cell.load)])[fresh]
    return Live(
        elapsed_s=(now_ns - started_ns) / 1e9,
        left_s=_left_s(cell, window, end_ns, e2e_s, started_ns, now_ns),
        ended=len(done),
        failed=int(failed.sum()) - refused,
        refused=refused,
        in_flight=int((rows.present("sent_ns") & ~rows.present("end_ns")).sum()),
        output_tok_per_s=_recent_tokens_per_s(rows, max(recent_ns, started_ns), now_ns),
        ttft_p50_s=float(np.median(ttft_ns)) / 1e9 if len(ttft_ns) else None,
        stage="start" if window is None else "window" if end_ns is None or end_ns > now_ns else "tail",
    )


def _left_s(
    cell: Cell, window: Window | None, end_ns: int | None, e2e_s: float | None, started_ns: int, now_ns: int
) -> float | None:
    """What is left, the tail of one E2E included; a cold start is expected to last two."""
    if e2e_s is None or (cell.limits.requests is not None and end_ns is None):
        return None
    begin_ns = window.begin_ns if window is not None else max(now_ns, started_ns + round(2e9 * e2e_s))
    until_ns = end_ns if end_ns is not None and cell.limits.duration_s else begin_ns + round(demanded_s(cell, e2e_s) * 1e9)
    return max(0.0, min((until_ns - now_ns) / 1e9, cell.limits.cap_s) + e2e_s)


def _recent_tokens_per_s(rows: Records, since_ns: int, now_ns: int) -> float | None:
    """Each answer's tokens spread evenly from its first to its last: near enough for the eye, and no chunk is read."""
    live = rows.present("last_ns") & (rows["last_ns"] > since_ns)
    if now_ns <= since_ns or not live.any():
        return None
    osl, chunks = rows["osl"][live], rows["chunks"][live]
    tokens = np.where(rows.present("osl")[live], osl, np.where(rows.present("chunks")[live], chunks, 0)).astype(np.float64)
    first_ns, last_ns = rows["first_ns"][live], rows["last_ns"][live]
    inside = (last_ns - np.maximum(first_ns, since_ns)) / np.maximum(last_ns - first_ns, 1)
    return float((tokens * np.where(last_ns > first_ns, inside, 1.0)).sum() / ((now_ns - since_ns) / 1e9))
