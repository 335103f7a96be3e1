"""Which request followed which in a closed loop, and how soon, read from the send and end times alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NEVER = np.iinfo(np.int64).max  # the end of a request that has not ended


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Row numbers of each slot's first request and of the one that refilled it, −1 while there is none."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]


def chains(sent_ns: NDArray[np.int64], end_ns: NDArray[np.int64], worker: NDArray[np.int32]) -> Chains:
    """The first two requests of every slot; `end_ns` is NEVER for a request in flight.

    A slot is refilled at once by the worker that owns it. So, among one worker's requests in sending order, a request that
    lifts the number in flight above everything seen before opened a slot, and the j-th of the others refilled the slot freed
    by the j-th end. When a read frees several slots together their order is a convention, but slots that are free at the
    same moment are exchangeable: no chain gains or loses a request by it. A failure frees its slot like a success.
    """
    parts = [_of_worker(np.flatnonzero(worker == one), sent_ns, end_ns) for one in np.unique(worker)]
    if not parts:
        return Chains(np.empty(0, np.intp), np.empty(0, np.intp))
    first = np.concatenate([first for first, _, _ in parts])
    next_of = np.full(len(sent_ns), -1, np.intp)
    for _, ended, refills in parts:
        next_of[ended] = refills
    return Chains(first, next_of[first])


def _of_worker(
    rows: NDArray[np.intp], sent_ns: NDArray[np.int64], end_ns: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows that opened a slot; rows that ended, in order, and the rows that refilled them."""
    by_sent = rows[np.argsort(sent_ns[rows], kind="stable")]
    by_end = rows[np.argsort(end_ns[rows], kind="stable")]
    ended = np.searchsorted(end_ns[by_end], sent_ns[by_sent], side="right")
    in_flight = np.arange(1, len(rows) + 1) - ended
    seen = np.maximum.accumulate(in_flight)
    opens = np.concatenate([[True], in_flight[1:] > seen[:-1]])
    refilled = by_sent[~opens]
    return by_sent[opens], by_end[: len(refilled)], refilled
