"""Closed loop: each slot sends its next request the moment the last one ended.

The slots begin one after the other, in mid-flight where the cell starts in equilibrium (`plan/start.py`). After a failure a
slot waits first, 10 ms doubling up to 1 s until something succeeds again, so that a server that refuses everything is not
hammered.
"""

from __future__ import annotations

import asyncio
from time import monotonic_ns

from sweep.load.call import Call
from sweep.load.flight import Flight
from sweep.load.health import Observer
from sweep.load.shard import Shard
from sweep.load.supply import Supply
from sweep.model import Outcome
from sweep.plan.arrival import stagger_s
from sweep.plan.opening import FEW, Opening

RAMP_S_PER_SLOT = 0.001
OPENING_S = 0.002  # how often to look whether a first token came
PAUSE_S = (0.01, 1.0)
ANSWERED = (Outcome.OK, Outcome.WRONG_LENGTH)


class ClosedLoop:
    def __init__(self, shard: Shard, supply: Supply, flight: Flight, observer: Observer) -> None:
        self._shard = shard
        self._supply = supply
        self._flight = flight
        self._refill_ns = observer.refill_ns

    def begin(self) -> None:
        """Starts the slots."""
        shard, level = self._shard, self._shard.cell.load.level
        if self._supply.opening:
            self._flight.start(self._open_slots())
            return
        wait_s = stagger_s(round(level), level * RAMP_S_PER_SLOT) + (shard.begin_ns - monotonic_ns()) / 1e9
        for slot in shard.slots:
            self._flight.start(self._slot(max(0.0, float(wait_s[slot]))))

    def awaits(self, end_ns: int) -> bool:
        """A request sent before `end_ns` is still open."""
        return any((call.sent_ns or end_ns) < end_ns for call in self._flight.open.values())

    async def stop(self) -> None:
        """Cuts what is in flight."""
        await self._flight.stop()

    async def _open_slots(self) -> None:
        """Equilibrium start: the next slots begin when few wait for their first token."""
        shard, opening = self._shard, Opening(self._supply.opening, FEW // self._shard.workers)
        begun: dict[int, Call] = {}
        await asyncio.sleep(max(0.0, (shard.begin_ns - monotonic_ns()) / 1e9))
        while opening.left and not self._flight.over.is_set():
            for request in opening.waiting:
                call = begun[request]
                if call.meter.begun_ns is not None or call.outcome is not None:
                    opening.answered(request, call.meter.begun_ns)
            pause_s = OPENING_S if opening.may_open(monotonic_ns()) <= 0 else 0.0
            if not pause_s:
                call = self._supply.take_first(opening.mid_flight)
                begun[call.number] = call
                opening.opened(call.number, call.isl_asked, monotonic_ns())
                self._flight.start(self._slot(0.0, call))
                pause_s = RAMP_S_PER_SLOT
            await asyncio.sleep(pause_s)

    async def _slot(self, offset_s: float, first: Call | None = None) -> None:
        await asyncio.sleep(offset_s)
        loop, flight, supply = asyncio.get_running_loop(), self._flight, self._supply
        freed_ns: int | None = None
        pause_s = 0.0
        while not flight.over.is_set():
            call, first = first or supply.take(), None
            loop.call_soon(supply.top_up)
            call.planned_ns = freed_ns or monotonic_ns()
            flight.begin(call)
            await flight.perform(call)
            if freed_ns is not None and call.sent_ns is not None and not call.retries:  # else it was the server that cost time
                self._refill_ns.append(call.sent_ns - freed_ns)
            freed_ns, pause_s = (call.end_ns, 0.0) if call.outcome in ANSWERED else (None, _longer(pause_s))
            if pause_s and not flight.over.is_set():
                await asyncio.sleep(pause_s)


def _longer(pause_s: float) -> float:
    shortest, longest = PAUSE_S
    return min(longest, max(shortest, 2 * pause_s))
