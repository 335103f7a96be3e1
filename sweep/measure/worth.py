"""Is more of a window worth waiting for? Until everything asked of the cell is known, or would take longer than the cell may."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from sweep.measure import precision
from sweep.measure.demand import demanded_end, demanded_s
from sweep.measure.reasons import BUDGET
from sweep.measure.saturation import SETTLED_E2E, WAITING, opening_s
from sweep.measure.window import slots_of
from sweep.model import Cell, Window
from sweep.records import Records

FEWEST = 8  # requests whose median has an interval
UNDER_WAY = 0.1  # of an E2E: until an answer's pace can be told
CHECKPOINT = 1.5  # the window at one checkpoint over that at the one before
WORTH_IT = 1.25  # of what a cell may measure: what would take longer is not waited for


def end(cell: Cell, seen: Seen, demanded_ns: int | None, reason: str) -> tuple[int | None, str]:
    """When the window ends and why, from when it is as long as demanded; None while more is worth waiting for."""
    if demanded_ns is None or demanded_ns > seen.now_ns:
        return demanded_ns, reason
    return _known_end(cell, seen, (demanded_ns, reason))


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
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
    span_s = least_s * CHECKPOINT ** np.floor(np.log(seen.passed_s / least_s) / np.log(CHECKPOINT) + 1e-9)
    over = seen.passed_s >= may_s
    if not over and seen.asked_ns is not None and seen.asked_ns >= seen.window.begin_ns + round(span_s * 1e9):
        return None, ""
    asked, before = seen.standing(cell, span_s), seen.standing(cell, span_s / CHECKPOINT)
    left = [now for now, then in zip(asked, before, strict=True) if not (now.settled or (now.held and then.held))]
    worth_it = any(max(CHECKPOINT, now.longer) * span_s <= WORTH_IT * may_s for now in left)
    if worth_it and not over and not _restless(cell, seen, may_s):
        return None, ""
    return demanded_end(cell, seen.rows, seen.window, seen.e2e_s, seen.now_ns, span_s), BUDGET if left else shortest[1]


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
    begin_ns, due_ns = seen.window.begin_ns, seen.rows[seen.window.due]
    due_ns = due_ns[due_ns >= begin_ns]
    if len(due_ns) < FEWEST:
        enough_s = seen.passed_s * FEWEST / max(1, len(due_ns))
    else:
        enough_s = (int(np.partition(due_ns, FEWEST - 1)[FEWEST - 1]) - begin_ns) / 1e9 + UNDER_WAY * seen.e2e_s
    return max(demanded_s(cell, seen.e2e_s), enough_s)


def _may_measure_s(cell: Cell, seen: Seen, least_s: float) -> float:
    """The longest window the limits allow, the tail of one E2E kept free of a budget's share."""
    limits, begun_s = cell.limits, (seen.window.begin_ns - seen.started_ns) / 1e9
    allowed_s = [limits.cap_s - begun_s]
    if limits.stretch is not None:
        allowed_s.append(limits.stretch * least_s)
    if limits.spend_s is not None:
        allowed_s.append(limits.spend_s - begun_s - seen.e2e_s)
    return min(allowed_s)
