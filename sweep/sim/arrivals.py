"""Who sends next in virtual time, and when: a slot as soon as its request has ended, an open loop by its schedule."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np

from sweep.model import Cell
from sweep.plan import arrival, lengths

RAMP_S_PER_SLOT = 0.001  # as the real load starts its slots
PAUSE_NS = (10_000_000, 1_000_000_000)  # and as it waits after failures
BLOCK = 512

Asked = tuple[int, int, int]  # request, ISL, OSL


class Arrivals:
    """All requests of a cell but the `mid_flight` ones that the slots of an equilibrium start ask first."""

    def __init__(self, cell: Cell, begin_ns: int, mid_flight: int) -> None:
        self._begin_ns = begin_ns
        self._asked = _asked(cell, cell.first_request + mid_flight)
        self._schedule = None if cell.load.kind == "closed" else _offsets(cell)
        self._due: list[tuple[int, int]] = []  # (ns, pause of the slot)
        if self._schedule is not None:
            self._plan_next(self._schedule)
        elif not mid_flight:
            slots = round(cell.load.level)
            offsets = arrival.stagger_s(slots, slots * RAMP_S_PER_SLOT)
            self._due = [(begin_ns + round(offset * 1e9), 0) for offset in offsets.tolist()]
            heapify(self._due)

    def next_ns(self) -> int | None:
        return self._due[0][0] if self._due else None

    def due(self, now_ns: int) -> Iterator[tuple[Asked, int, int]]:
        """What is sent by now: (request, when in ns, how long its slot paused before)."""
        while self._due and self._due[0][0] <= now_ns:
            sent_ns, pause_ns = heappop(self._due)
            yield next(self._asked), sent_ns, pause_ns
            if self._schedule is not None:
                self._plan_next(self._schedule)

    def ended(self, now_ns: int, *, answered: bool, pause_ns: int) -> None:
        """A request ended, before which its slot had paused so long. After failures a slot waits, ever longer."""
        if self._schedule is None:
            pause_ns = 0 if answered else min(PAUSE_NS[1], max(PAUSE_NS[0], 2 * pause_ns))
            heappush(self._due, (now_ns + pause_ns, pause_ns))

    def _plan_next(self, schedule: Iterator[int]) -> None:
        heappush(self._due, (self._begin_ns + next(schedule), 0))


def _asked(cell: Cell, first: int) -> Iterator[Asked]:
    """Without end."""
    while True:
        requests = np.arange(first, first + BLOCK, dtype=np.int64)
        isl, osl = lengths.pairs(cell.profile, cell.seed, requests)
        yield from zip(requests.tolist(), isl.tolist(), osl.tolist(), strict=True)
        first += BLOCK


def _offsets(cell: Cell) -> Iterator[int]:
    """ns from the cell's start to each arrival, without end."""
    first = 0
    while True:
        yield from arrival.offsets_ns(cell.load, cell.seed, first, BLOCK).tolist()
        first += BLOCK
