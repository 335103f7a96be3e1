"""Where the measured interval of a cell begins and ends, and which requests belong to it.

Nothing here looks at what happened after `now_ns`, so a window placed while the cell runs is the window placed afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sweep.measure.slots import NEVER, chains
from sweep.measure.steady import mser5
from sweep.model import Cell, Load, Outcome, Phase, Window
from sweep.records import Records

OPEN_KINDS = frozenset({"poisson", "constant", "gamma", "trace"})
MSER_REQUESTS = 200
MANY = 4
EARLY = 16  # requests a slot: a cold start of equal slots needs three

Bools = NDArray[np.bool_]


def is_open(load: Load) -> bool:
    """Arrivals follow a schedule of their own: latency counts from `planned_ns`."""
    return load.kind in OPEN_KINDS


def slots_of(load: Load) -> int:
    return 1 if load.kind == "single" else round(load.level)


def due_column(load: Load) -> Literal["sent_ns", "planned_ns"]:
    """The column that says when a request was due: what places it in the cohort, and where its latency starts."""
    return "planned_ns" if is_open(load) else "sent_ns"


def place(cell: Cell, records: Records, now_ns: int) -> Window | None:
    """The window [begin, now) of what had happened by `now_ns`, None while the cell has not reached a steady state."""
    found = _begin(cell, records, now_ns)
    if found is None or found[0] >= now_ns:
        return None
    begin_ns, reason = found
    if cell.limits.duration_s is None and cell.load.kind != "offline":  # a demanded length is not shortened
        later_ns = _mser_begin(cell, records, begin_ns, now_ns)
        if later_ns > begin_ns:
            begin_ns, reason = later_ns, f"{reason}, then MSER-5"
    return Window(begin_ns=begin_ns, end_ns=now_ns, begin_reason=reason, end_reason="now", due=due_column(cell.load))


def with_phases(records: Records, window: Window | None) -> Records:
    """Every request's phase: warmup before the window, measured when due inside it, filler after; warmup without a window.

    A request that was never sent is placed by its plan; in a closed loop one that only the end kept from being sent, by its end.
    """
    phase = np.full(len(records), Phase.WARMUP.value, dtype=object)
    if window is not None:
        due_ns = np.where(records.present(window.due), records[window.due], records["planned_ns"])
        if window.due == "sent_ns":
            kept = records["outcome"] == Outcome.UNSENT.value
            due_ns = np.where(kept & records.present("end_ns"), records["end_ns"], due_ns)
        phase[due_ns >= window.begin_ns] = Phase.MEASURED.value
        phase[due_ns >= window.end_ns] = Phase.FILLER.value
    return records.replace(phase=phase)


def _begin(cell: Cell, records: Records, now_ns: int) -> tuple[int, str] | None:
    sent = np.flatnonzero(records.present("sent_ns") & (records["sent_ns"] < now_ns))
    if len(sent) == 0:
        return None
    if cell.load.kind == "offline":
        return int(records["sent_ns"][sent].min()), "the first request"
    if is_open(cell.load):
        return _open_begin(records, now_ns)
    return _closed_begin(cell, records, sent, now_ns)


def _closed_begin(cell: Cell, records: Records, sent: NDArray[np.intp], now_ns: int) -> tuple[int, str] | None:
    sent_ns = records["sent_ns"][sent]
    slots = slots_of(cell.load)
    early = EARLY * slots
    while 2 * early < len(sent):  # begin needs only what led to it: the first requests usually say
        early_ns = int(np.partition(sent_ns, early)[early])
        found = _steady_begin(cell, _Starts.of(slots, records, sent[sent_ns < early_ns], early_ns))
        if found is not None:
            return found
        early *= 4
    starts = _Starts.of(slots, records, sent, now_ns)
    found = _steady_begin(cell, starts)
    if found is None and now_ns - int(sent_ns.min()) >= cell.limits.cap_s * 1e9:
        return _begin_at_cap(starts)
    return found


@dataclass(frozen=True, slots=True)
class _Starts:
    """By when every slot had come so far; NEVER while one has not.

    Slots that rest after failures may never all be in flight together, so that some are never seen to open. `settled_ns`
    is when four requests a slot had ended since the last one opened: nobody waits for more slots any longer.
    """

    first_token_ns: int
    first_end_ns: int
    second_end_ns: int
    settled_ns: int

    @staticmethod
    def of(slots: int, records: Records, rows: NDArray[np.intp], now_ns: int) -> _Starts:
        end_ns = _happened(records, "end_ns", rows, now_ns)
        answered_ns = np.minimum(_happened(records, "first_ns", rows, now_ns), end_ns)
        sent_ns = records["sent_ns"][rows]
        chain = chains(sent_ns, end_ns, records["worker"][rows])
        second_ns = np.where(chain.second < 0, NEVER, end_ns[chain.second])
        first_token_ns, first_end_ns, second_end_ns = (
            int(each_ns.max()) if len(each_ns) >= slots else NEVER
            for each_ns in (answered_ns[chain.first], end_ns[chain.first], second_ns)
        )
        return _Starts(first_token_ns, first_end_ns, second_end_ns, _settled_ns(sent_ns[chain.first], end_ns, slots))


def _settled_ns(opened_ns: NDArray[np.int64], end_ns: NDArray[np.int64], slots: int) -> int:
    """The first moment at which four requests a slot had ended since a slot opened that was not the last, and none after."""
    opened_ns = np.append(np.sort(opened_ns), NEVER)[:slots]
    ended_ns = np.sort(end_ns)
    last = np.searchsorted(ended_ns, opened_ns[:-1], side="right") + MANY * slots - 1
    found_ns = np.where(last < len(ended_ns), ended_ns[np.minimum(last, len(ended_ns) - 1)], NEVER)
    return int(found_ns[found_ns < opened_ns[1:]].min(initial=NEVER))


def _happened(records: Records, column: str, rows: NDArray[np.intp], now_ns: int) -> NDArray[np.int64]:
    at_ns = records[column][rows]
    return np.where(records.present(column)[rows] & (at_ns <= now_ns), at_ns, NEVER)


def _steady_begin(cell: Cell, starts: _Starts) -> tuple[int, str] | None:
    warm = cell.start == "equilibrium"
    begin_ns = starts.first_token_ns if warm else starts.second_end_ns
    if min(begin_ns, starts.settled_ns) == NEVER:
        return None
    if starts.settled_ns < begin_ns:
        return starts.settled_ns, "four completions a slot; some slots were never in flight together"
    return begin_ns, "every warm request's first token" if warm else "every slot's second completion"


def _begin_at_cap(starts: _Starts) -> tuple[int, str] | None:
    """A cell that ran out of time is published, unresolved, from the steadiest moment it had."""
    if starts.first_end_ns != NEVER:
        return starts.first_end_ns, "every slot's first completion, since the cap came before the second"
    if starts.first_token_ns != NEVER:
        return starts.first_token_ns, "every slot's first token, since the cap came before a completion"
    return None


def _open_begin(records: Records, now_ns: int) -> tuple[int, str] | None:
    planned = records.present("planned_ns")
    ended = planned & records.present("end_ns") & (records["end_ns"] <= now_ns)
    if not ended.any():
        return None
    took_ns = records["end_ns"][ended] - records["planned_ns"][ended]
    rank = int(np.ceil(0.99 * len(took_ns) - 1e-9)) - 1
    first_ns = int(records["planned_ns"][planned].min())
    return first_ns + int(np.partition(took_ns, rank)[rank]), "p99 E2E after the first arrival"


def _mser_begin(cell: Cell, records: Records, begin_ns: int, now_ns: int) -> int:
    """`begin_ns`, or the due time of the first request that MSER-5 keeps, on TTFT and on TPOT."""
    due_ns = records[due_column(cell.load)]
    rows = np.flatnonzero((due_ns >= begin_ns) & records.present("first_ns") & (records["end_ns"] <= now_ns))
    if len(rows) < MSER_REQUESTS:
        return begin_ns
    rows = rows[records["outcome"][rows] == Outcome.OK]
    if len(rows) < MSER_REQUESTS:
        return begin_ns
    rows = rows[np.argsort(due_ns[rows], kind="stable")]
    first_ns = records["first_ns"][rows]
    cuts = [mser5((first_ns - due_ns[rows]).astype(np.float64))]
    many = records["osl"][rows] > 1
    if many.sum() >= MSER_REQUESTS:
        tpot_ns = (records["last_ns"][rows] - first_ns)[many] / (records["osl"][rows][many] - 1)
        cuts.append(int(np.flatnonzero(many)[mser5(tpot_ns)]))
    return max(begin_ns, int(due_ns[rows[max(cuts)]])) if max(cuts) > 0 else begin_ns
