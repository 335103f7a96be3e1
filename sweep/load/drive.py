"""One shard of one cell under load: reports twice a second, gives up what is hopeless, ends when told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from queue import SimpleQueue
from time import monotonic_ns, process_time_ns
from typing import TypeVar

import msgspec

from sweep import dialect
from sweep.load.caller import Caller
from sweep.load.closed import ClosedLoop
from sweep.load.flight import Flight
from sweep.load.health import Observer
from sweep.load.look import Look
from sweep.load.open import OpenLoop
from sweep.load.roll import Roll
from sweep.load.shard import Order, Report, Shard
from sweep.load.supply import Supply
from sweep.load.wire import Wire

REPORT_S = 0.5
REPORT_SHARE = 0.05  # of the processor, at most, goes into reports
SLICE = 16  # requests told without a break: some fifty microseconds
PATROL_S = 0.1
FINISH_S = 0.01

T = TypeVar("T")


class ShardRun:
    """Runs on the loop that creates it. `reports` takes encoded `Report`s, `roll` every request as it begins."""

    def __init__(self, shard: Shard, reports: SimpleQueue[bytes | None], roll: Roll, look: Look) -> None:
        """`look` is the running loop's selector."""
        spoken, wire = dialect.get(shard.endpoint.dialect), Wire(look=look)
        self._shard = shard
        self._reports = reports
        self._observer = observer = Observer(wire, look)
        self._caller = Caller(shard.target, spoken, shard.run_id, wire, shard.endpoint.keep_alive)
        self._supply = supply = Supply(shard, spoken, observer.reads)
        self._flight = flight = Flight(shard, self._caller, roll)
        self._end_ns: int | None = None
        self._load: ClosedLoop | OpenLoop
        if shard.cell.load.kind == "closed":
            self._load = ClosedLoop(shard, supply, flight, observer)
        else:
            self._load = OpenLoop(shard, supply, flight, observer, self._caller)

    def obey(self, order: Order) -> None:
        if order.command == "finish":
            self._end_ns = order.end_ns
        elif order.command == "abort":
            self._flight.over.set()

    async def run(self) -> None:
        """Until told to end; the last report goes out before it returns."""
        async with self._caller:
            while self._supply.top_up():
                pass
            self._load.begin()
            patrol, reporter = asyncio.create_task(self._patrol()), asyncio.create_task(self._report())
            await self._flight.over.wait()
            patrol.cancel()
            await reporter
            await self._load.stop()
        self._observer.close()
        await self._flush(last=True)

    async def _patrol(self) -> None:
        """Gives up what is silent or too old, and sees when the cell is over."""
        due_ns = 0
        while True:
            await asyncio.sleep(PATROL_S if self._end_ns is None else FINISH_S)
            now_ns = monotonic_ns()
            if now_ns >= due_ns:
                self._flight.give_up_hopeless(now_ns)
                due_ns = now_ns + round(PATROL_S * 0.9e9)
            if self._end_ns is not None and now_ns >= self._end_ns and not self._load.awaits(self._end_ns):
                self._flight.over.set()

    async def _report(self) -> None:
        while not self._flight.over.is_set():
            began_ns = process_time_ns()
            await self._flush()
            pause_s = max(REPORT_S, (process_time_ns() - began_ns) / 1e9 / REPORT_SHARE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._flight.over.wait(), pause_s)

    async def _flush(self, last: bool = False) -> None:
        """Reports in slices: between two of them the loop attends to the sockets."""
        ended, still = self._flight.told()
        done = [msgspec.msgpack.encode(part) async for part in _slices(ended)]
        open_ = [msgspec.msgpack.encode([call.row() for call in part]) async for part in _slices(still)]
        health = self._observer.health(self._shard.endpoint.keep_alive) if last else None
        self._reports.put(msgspec.msgpack.encode(Report(at_ns=monotonic_ns(), done=done, open=open_, last=last, health=health)))


async def _slices(calls: list[T]) -> AsyncIterator[list[T]]:
    for first in range(0, len(calls), SLICE):
        if first:
            await asyncio.sleep(0)
        yield calls[first : first + SLICE]
