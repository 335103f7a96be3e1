"""Is more of a window worth waiting for? Until everything asked of the cell is known, or would take longer than the cell may."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.measure import precision
from sweep.measure.demand import MIN_WINDOW_S, demanded_end, demanded_s
from sweep.measure.overload import suspected
from sweep.measure.reasons import BUDGET, OUTDONE
from sweep.measure.saturation import SETTLED_E2E, WAITING, opening_s
from sweep.measure.window import is_open, slots_of
from sweep.model import Cell, Window
from sweep.records import Records

FEWEST = 8  # requests whose median has an interval
UNDER_WAY = 0.1  # of an E2E: until an answer's pace can be told
CHECKPOINT = 1.5  # the window at one checkpoint over that at the one before
WORTH_IT = 1.25  # of what a cell may measure: what would take longer is not waited for


def end(cell: Cell, seen: Seen, demanded_ns: int | None, reason: str) -> tuple[int | None, str]:
    """When the window ends and why; None while more is worth waiting for. It is to be as long as demanded, unless outdone.

    An open loop does not end unresolved while its backlog grows: it may be that it will be found overloaded.
    """
    if _outdone(cell, seen):
        return seen.now_ns, OUTDONE
    if demanded_ns is None or demanded_ns > seen.now_ns:
        return demanded_ns, reason
    end_ns, reason = _known_end(cell, seen, (demanded_ns, reason))
    waits = reason == BUDGET and is_open(cell.load) and suspected(seen.rows, seen.e2e_s, seen.now_ns)
    return (None, "") if waits else (end_ns, reason)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A cell whose window is open. `rows` are the columns of `done` and `open` together."""

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

    @property
    def due_ns(self) -> NDArray[np.int64]:
        """When each request of the cohort was due."""
        due_ns: NDArray[np.int64] = self.rows[self.window.due]
        return due_ns[due_ns >= self.window.begin_ns]

    def until_due_s(self, requests: int) -> float | None:
        """How long the window was when so many requests had been due, None before."""
        due_ns = self.due_ns
        if len(due_ns) < requests:
            return None
        return (int(np.partition(due_ns, requests - 1)[requests - 1]) - self.window.begin_ns) / 1e9

    def checkpoint_s(self, first_s: float) -> float:
        """The window at the last checkpoint: the first one times a power of 1.5."""
        return first_s * float(CHECKPOINT ** np.floor(np.log(self.passed_s / first_s) / np.log(CHECKPOINT) + 1e-9))

    def looked_at(self, span_s: float) -> bool:
        """Whether it was asked about after that checkpoint before."""
        return self.asked_ns is not None and self.asked_ns >= self.window.begin_ns + round(span_s * 1e9)

    def standing(self, cell: Cell, span_s: float) -> list[precision.Known]:
        first = msgspec.structs.replace(self.window, end_ns=self.window.begin_ns + round(span_s * 1e9))
        return precision.standing(cell, self.done, self.open, self.rows, first)


def _known_end(cell: Cell, seen: Seen, shortest: tuple[int, str]) -> tuple[int | None, str]:
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
    span_s = seen.checkpoint_s(least_s)
    over = seen.passed_s >= may_s
    if not over and seen.looked_at(span_s):
        return None, ""
    asked, before = seen.standing(cell, span_s), seen.standing(cell, span_s / CHECKPOINT)
    left = [now for now, then in zip(asked, before, strict=True) if not (now.settled or (now.held and then.held))]
    worth_it = any(max(CHECKPOINT, now.longer) * span_s <= WORTH_IT * may_s for now in left)
    if worth_it and not over and not _restless(cell, seen, may_s):
        return None, ""
    return demanded_end(cell, seen.rows, seen.window, seen.e2e_s, seen.now_ns, span_s), BUDGET if left else shortest[1]


def _outdone(cell: Cell, seen: Seen) -> bool:
    """Whether a smaller load is sure to deliver more, told after one round of the slots: then nothing else of this one matters.

    With SLOs only where all are missed. Where a window's length or its requests are demanded, they are measured.
    """
    limits = cell.limits
    demanded = limits.duration_s or limits.requests or not limits.gates
    if demanded or cell.rival_tok_per_s is None or cell.start != "equilibrium":
        return False
    round_s = seen.until_due_s(slots_of(cell.load))
    first_s = max(MIN_WINDOW_S, round_s or 0.0)
    if round_s is None or seen.passed_s < first_s or seen.looked_at(seen.checkpoint_s(first_s)):
        return False
    until_now = msgspec.structs.replace(seen.window, end_ns=seen.now_ns)
    rate = precision.throughput(seen.done, seen.open, until_now)
    outdone = rate.high is not None and rate.high < cell.rival_tok_per_s
    return outdone and precision.misses_every(cell, seen.rows, until_now)


def _restless(cell: Cell, seen: Seen, may_s: float) -> bool:
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


def _shortest_s(cell: Cell, seen: Seen) -> float:
    """The first checkpoint: as long as demanded, and until enough requests were due for their median to have an interval."""
    due_s = seen.until_due_s(FEWEST)
    foreseen_s = seen.passed_s * FEWEST / max(1, len(seen.due_ns))
    return max(demanded_s(cell, seen.e2e_s), foreseen_s if due_s is None else due_s + UNDER_WAY * seen.e2e_s)


def _may_measure_s(cell: Cell, seen: Seen, least_s: float) -> float:
    """The longest window the limits allow, the tail of one E2E kept free of a budget's share."""
    limits, begun_s = cell.limits, (seen.window.begin_ns - seen.started_ns) / 1e9
    allowed_s = [limits.cap_s - begun_s]
    if limits.stretch is not None:
        allowed_s.append(limits.stretch * least_s)
    if limits.spend_s is not None:
        allowed_s.append(limits.spend_s - begun_s - seen.e2e_s)
    return min(allowed_s)
