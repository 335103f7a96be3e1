"""One shard of one cell, run by one process: keeps the load on, reports twice a second, ends when told.

Closed loop: each slot sends its next request the moment the last one ended. The slots begin one after the other, in mid-flight
where the cell starts in equilibrium (`plan/start.py`). After a failure a slot waits first, 10 ms
doubling up to 1 s until something succeeds again, so that a server that refuses everything is not hammered.
Open loop: each arrival is sent when it is due, whatever is still in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic_ns, process_time_ns
from typing import TypeVar

import msgspec

from sweep import dialect
from sweep.load.call import Call, Row
from sweep.load.caller import Caller
from sweep.load.descriptors import raise_limit, widen_table
from sweep.load.health import Observer
from sweep.load.look import Look
from sweep.load.roll import Roll
from sweep.load.shard import Order, Report, Shard
from sweep.load.supply import Supply
from sweep.load.timer import Alarm
from sweep.load.wire import Wire
from sweep.model import Outcome
from sweep.plan.arrival import offsets_ns, stagger_s
from sweep.plan.opening import FEW, Opening
from sweep.prompt.text import compose

REPORT_S = 0.5
REPORT_SHARE = 0.05  # of the processor, at most, goes into reports
SLICE = 16  # requests told without a break: some fifty microseconds
PATROL_S = 0.1
FINISH_S = 0.01
RAMP_S_PER_SLOT = 0.001
OPENING_S = 0.002  # how often to look whether a first token came
COMPLETE_GRACE_NS = 1_000_000_000  # for the end of a body whose answer is complete
PAUSE_S = (0.01, 1.0)
FEWEST_SPARE, MOST_SPARE = 8, 512
READY = b"ready"  # a worker's first message
ANSWERED = (Outcome.OK, Outcome.WRONG_LENGTH)
_ARRIVALS = 1024


T = TypeVar("T")


class ShardRun:
    """Runs on the loop that creates it. `reports` takes encoded `Report`s, `roll` every request as it begins."""

    def __init__(self, shard: Shard, reports: SimpleQueue[bytes | None], roll: Roll, look: Look) -> None:
        """`look` is the running loop's selector."""
        self._shard = shard
        self._limits = shard.cell.limits
        self._closed = shard.cell.load.kind == "closed"
        self._reports = reports
        self._roll = roll
        self._dialect = dialect.get(shard.endpoint.dialect)
        self._wire = Wire(look=look)
        self._observer = Observer(self._wire, look)
        self._supply = Supply(shard, self._dialect, self._observer.reads)
        self._open: dict[int, Call] = {}
        self._done: list[Row] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._end_ns: int | None = None
        self._over = asyncio.Event()
        self._dues = self._due_times()

    def obey(self, order: Order) -> None:
        if order.command == "finish":
            self._end_ns = order.end_ns
        elif order.command == "abort":
            self._over.set()

    async def run(self) -> None:
        """Until told to end; the last report goes out before it returns."""
        shard = self._shard
        keep_alive = shard.endpoint.keep_alive
        async with Caller(shard.target, self._dialect, shard.run_id, self._wire, keep_alive) as self._caller:
            while self._supply.top_up():
                pass
            if self._supply.opening:
                self._start(self._open_slots())
            elif self._closed:
                level = shard.cell.load.level
                wait_s = stagger_s(round(level), level * RAMP_S_PER_SLOT) + (shard.begin_ns - monotonic_ns()) / 1e9
                for slot in shard.slots:
                    self._start(self._slot(max(0.0, float(wait_s[slot]))))
            else:
                self._spare = spare_lines(shard)
                self._caller.spare(self._spare)
                self._due_ns = next(self._dues)
                self._alarm = Alarm(self._arrive)
                self._alarm.set(self._due_ns)
            patrol, reporter = asyncio.create_task(self._patrol()), asyncio.create_task(self._report())
            await self._over.wait()
            patrol.cancel()
            await reporter
            await self._stop()
        self._observer.close()
        await self._flush(last=True)

    def _start(self, work: asyncio._CoroutineLike[None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(self._look_for_defects)
        return task

    def _look_for_defects(self, task: asyncio.Task[None]) -> None:
        """A driver that ends by an exception is a defect of ours: end the cell instead of running on with less load."""
        if not task.cancelled() and task.exception() is not None:
            asyncio.get_running_loop().call_exception_handler({"message": "a driver failed", "exception": task.exception()})
            self._over.set()

    async def _stop(self) -> None:
        now_ns = monotonic_ns()
        if not self._closed:
            self._alarm.close()
        tasks = set(self._tasks)
        performed = list(self._open.values())
        for call in performed:
            call.stop(Outcome.CUT if call.sent_ns is not None else Outcome.UNSENT, "the cell ended")
        for task in tasks - {call.task for call in performed}:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for call in list(self._open.values()):  # tasks that were cancelled before their first step
            call.settle(Outcome.UNSENT, "the cell ended")
            self._ended(call)
        while not self._closed and self._due_ns < now_ns:
            call = self._supply.take()
            call.planned_ns, self._due_ns = self._due_ns, next(self._dues)
            call.settle(Outcome.UNSENT, "the cell ended")
            self._ended(call)

    # --- closed loop -----------------------------------------------------------------------------------------

    async def _open_slots(self) -> None:
        """Equilibrium start: the next slots begin when few wait for their first token."""
        shard, opening = self._shard, Opening(self._supply.opening, FEW // self._shard.workers)
        begun: dict[int, Call] = {}
        await asyncio.sleep(max(0.0, (shard.begin_ns - monotonic_ns()) / 1e9))
        while opening.left and not self._over.is_set():
            for request in opening.waiting:
                call = begun[request]
                if call.meter.begun_ns is not None or call.outcome is not None:
                    opening.answered(request, call.meter.begun_ns)
            pause_s = OPENING_S if opening.may_open(monotonic_ns()) <= 0 else 0.0
            if not pause_s:
                call = self._supply.take_first(opening.mid_flight)
                begun[call.number] = call
                opening.opened(call.number, call.isl_asked, monotonic_ns())
                self._start(self._slot(0.0, call))
                pause_s = RAMP_S_PER_SLOT
            await asyncio.sleep(pause_s)

    async def _slot(self, offset_s: float, first: Call | None = None) -> None:
        await asyncio.sleep(offset_s)
        loop = asyncio.get_running_loop()
        freed_ns: int | None = None
        pause_s = 0.0
        while not self._over.is_set():
            call, first = first or self._supply.take(), None
            loop.call_soon(self._supply.top_up)
            call.planned_ns = freed_ns or monotonic_ns()
            self._begun(call)
            await self._perform(call)
            if freed_ns is not None and call.sent_ns is not None:
                self._observer.refill_ns.append(call.sent_ns - freed_ns)
            freed_ns, pause_s = (call.end_ns, 0.0) if call.outcome in ANSWERED else (None, _longer(pause_s))
            if pause_s and not self._over.is_set():
                await asyncio.sleep(pause_s)

    # --- open loop -------------------------------------------------------------------------------------------

    def _arrive(self) -> None:
        """Sends what is due, sets the alarm for what is next, and only then does what can wait."""
        loop = asyncio.get_running_loop()
        while self._due_ns <= monotonic_ns():
            call = self._supply.take()
            call.planned_ns = self._due_ns
            self._caller.begin(call)
            self._begun(call)
            self._start(self._perform(call))
            loop.call_soon(self._supply.top_up)
            self._due_ns = next(self._dues)
        self._alarm.set(self._due_ns)
        self._caller.spare(self._spare)

    def _due_times(self) -> Iterator[int]:
        """When this shard's arrivals are due; none in a closed loop."""
        first, shard = 0, self._shard
        while not self._closed:
            offsets = offsets_ns(shard.cell.load, shard.cell.seed, first, _ARRIVALS)
            for arrival, offset in enumerate(offsets.tolist(), first):
                if arrival % shard.workers == shard.worker:
                    yield shard.begin_ns + offset
            first += _ARRIVALS

    # --- both ------------------------------------------------------------------------------------------------

    def _begun(self, call: Call) -> None:
        self._open[call.number] = call
        self._roll.add(call.number, call.planned_ns, call.isl_asked, call.osl_asked)

    async def _perform(self, call: Call) -> None:
        try:
            await self._caller.perform(call)
        finally:
            self._ended(call)
            if not self._closed and call.sent_ns is not None:
                self._observer.lateness_ns.append(call.sent_ns - call.planned_ns)

    def _ended(self, call: Call) -> None:
        self._open.pop(call.number, None)
        if self._shard.endpoint.osl_honoured:
            call.judge_length()
        self._done.append(call.row())

    async def _patrol(self) -> None:
        """Gives up what is silent or too old, and sees when the cell is over."""
        due_ns = 0
        while True:
            await asyncio.sleep(PATROL_S if self._end_ns is None else FINISH_S)
            now_ns = monotonic_ns()
            if now_ns >= due_ns:
                self._give_up_hopeless(now_ns)
                due_ns = now_ns + round(PATROL_S * 0.9e9)
            if self._end_ns is not None and now_ns >= self._end_ns and not self._awaited(self._end_ns):
                self._over.set()

    def _give_up_hopeless(self, now_ns: int) -> None:
        idle_ns, deadline_ns = round(self._limits.idle_timeout_s * 1e9), round(self._limits.deadline_s * 1e9)
        for call in list(self._open.values()):
            silent_ns = call.silent_ns(now_ns)
            if silent_ns > COMPLETE_GRACE_NS and call.meter.done:
                call.stop(call.meter.outcome())
            elif silent_ns > idle_ns:
                outcome = Outcome.TIMEOUT_IDLE if call.sent_ns is not None else Outcome.CONNECT
                call.stop(outcome, f"nothing for {self._limits.idle_timeout_s:g} s")
            elif call.age_ns(now_ns) > deadline_ns:
                call.stop(Outcome.TIMEOUT_DEADLINE, f"not complete after {self._limits.deadline_s:g} s")

    def _awaited(self, end_ns: int) -> bool:
        """A request of the time before `end_ns` is still open."""
        if self._closed:
            return any((call.sent_ns or end_ns) < end_ns for call in self._open.values())
        return any(call.planned_ns < end_ns for call in self._open.values())

    async def _report(self) -> None:
        while not self._over.is_set():
            began_ns = process_time_ns()
            await self._flush()
            pause_s = max(REPORT_S, (process_time_ns() - began_ns) / 1e9 / REPORT_SHARE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), pause_s)

    async def _flush(self, last: bool = False) -> None:
        """Reports in slices: between two of them the loop attends to the sockets."""
        ended, self._done = self._done, []
        still = list(self._open.values())
        done = [msgspec.msgpack.encode(part) async for part in _slices(ended)]
        open_ = [msgspec.msgpack.encode([call.row() for call in part]) async for part in _slices(still)]
        health = self._observer.health(self._shard.endpoint.keep_alive) if last else None
        self._reports.put(msgspec.msgpack.encode(Report(at_ns=monotonic_ns(), done=done, open=open_, last=last, health=health)))


async def _slices(calls: list[T]) -> AsyncIterator[list[T]]:
    for first in range(0, len(calls), SLICE):
        if first:
            await asyncio.sleep(0)
        yield calls[first : first + SLICE]


def _longer(pause_s: float) -> float:
    shortest, longest = PAUSE_S
    return min(longest, max(shortest, 2 * pause_s))


def spare_lines(shard: Shard) -> int:
    """How many connections an open loop keeps waiting, so that no arrival waits for one.

    A new one takes a few round trips; this is what arrives in eight of them, bursts included, and never few.
    """
    arrivals = shard.cell.load.level / shard.workers * 8 * (shard.endpoint.rtt_s or 0.0)
    return min(MOST_SPARE, FEWEST_SPARE + math.ceil(arrivals))


async def run_shard(shard: Shard, connection: Connection, reports: SimpleQueue[bytes | None], roll: Roll, look: Look) -> None:
    """Runs `shard`, obeying what arrives on `connection`; ends at once when the other side is gone."""
    loop = asyncio.get_running_loop()
    gc.collect()
    gc.freeze()
    gc.disable()
    run = ShardRun(shard, reports, roll, look)

    def hear() -> None:
        try:
            run.obey(msgspec.msgpack.decode(connection.recv_bytes(), type=Order))
        except (EOFError, OSError):
            loop.remove_reader(connection.fileno())
            run.obey(Order(command="abort"))

    loop.add_reader(connection.fileno(), hear)
    try:
        await run.run()
    finally:
        gc.enable()
        gc.unfreeze()
        loop.remove_reader(connection.fileno())


def _measure(shard: Shard, connection: Connection, reports: SimpleQueue[bytes | None], roll: Roll) -> None:
    look = Look()
    roll.restart()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(look)) as runner:
        runner.run(run_shard(shard, connection, reports, roll, look))


def main(fd: int, roll_fd: int) -> None:
    """A worker process: measures the shards it is sent on the connection `fd` until that closes."""
    raise_limit()
    widen_table()
    compose("prose", 2, 0, 0, "")  # builds the words while preflight is under way
    connection, roll = Connection(fd), Roll(roll_fd)
    stamps = Wire().socket((socket.AF_INET, socket.SOCK_STREAM, 0))  # the kernel stamps while one socket asks for it
    reports: SimpleQueue[bytes | None] = SimpleQueue()

    def post() -> None:
        """Writes in a thread of its own: a fleet that is slow to read never delays the loop."""
        with contextlib.suppress(OSError):
            while (report := reports.get()) is not None:
                connection.send_bytes(report)

    poster = threading.Thread(target=post, daemon=True)
    poster.start()
    reports.put(READY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            order = msgspec.msgpack.decode(connection.recv_bytes(), type=Order)
            if order.shard is not None:  # anything else is late for a cell that has ended
                _measure(order.shard, connection, reports, roll)
    stamps.close()
    reports.put(None)
    poster.join(timeout=1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
