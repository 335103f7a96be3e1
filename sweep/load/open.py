"""Open loop: each arrival is sent when it is due, whatever is still in flight."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from time import monotonic_ns

from sweep.load.call import Call
from sweep.load.caller import Caller
from sweep.load.flight import Flight
from sweep.load.health import Observer
from sweep.load.shard import Shard
from sweep.load.supply import Supply
from sweep.load.timer import Alarm
from sweep.plan.arrival import offsets_ns

FEWEST_SPARE, MOST_SPARE = 8, 512
SPARE_TRIPS = 8  # round trips a new connection may take
_ARRIVALS = 1024


class OpenLoop:
    def __init__(self, shard: Shard, supply: Supply, flight: Flight, observer: Observer, caller: Caller) -> None:
        self._supply = supply
        self._flight = flight
        self._lateness_ns = observer.lateness_ns
        self._caller = caller
        self._spare = spare_lines(shard)
        self._dues = due_times(shard)
        self._due_ns = next(self._dues)

    def begin(self) -> None:
        """Sets the alarm for the first arrival."""
        self._caller.spare(self._spare)
        self._alarm = Alarm(self._arrive)
        self._alarm.set(self._due_ns)

    def awaits(self, end_ns: int) -> bool:
        """A request planned before `end_ns` is still open."""
        return any(call.planned_ns < end_ns for call in self._flight.open.values())

    async def stop(self) -> None:
        """Cuts what is in flight; what was due until now and not sent stays unsent."""
        now_ns = monotonic_ns()
        self._alarm.close()
        await self._flight.stop()
        while self._due_ns < now_ns:
            call = self._supply.take()
            call.planned_ns, self._due_ns = self._due_ns, next(self._dues)
            self._flight.leave_unsent(call)

    def _arrive(self) -> None:
        """Sends what is due, sets the alarm for what is next, and only then does what can wait."""
        loop = asyncio.get_running_loop()
        while self._due_ns <= monotonic_ns():
            call = self._supply.take()
            call.planned_ns = self._due_ns
            self._caller.begin(call)
            self._flight.begin(call)
            self._flight.start(self._perform(call))
            loop.call_soon(self._supply.top_up)
            self._due_ns = next(self._dues)
        self._alarm.set(self._due_ns)
        self._caller.spare(self._spare)

    async def _perform(self, call: Call) -> None:
        try:
            await self._flight.perform(call)
        finally:
            if call.sent_ns is not None:
                self._lateness_ns.append(call.sent_ns - call.planned_ns)


def due_times(shard: Shard) -> Iterator[int]:
    """When this shard's arrivals are due, without end."""
    first = 0
    while True:
        offsets = offsets_ns(shard.cell.load, shard.cell.seed, first, _ARRIVALS)
        for arrival, offset in enumerate(offsets.tolist(), first):
            if arrival % shard.workers == shard.worker:
                yield shard.begin_ns + offset
        first += _ARRIVALS


def spare_lines(shard: Shard) -> int:
    """How many connections are kept waiting so that no arrival waits for one: what arrives while a new one is made, and never few."""
    arrivals = shard.cell.load.level / shard.workers * SPARE_TRIPS * (shard.endpoint.rtt_s or 0.0)
    return min(MOST_SPARE, FEWEST_SPARE + math.ceil(arrivals))
