"""The worker processes: started at once, kept between cells, fed shards, read as batches."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from time import monotonic, monotonic_ns
from types import TracebackType

import msgspec
import numpy as np

from sweep.errors import SweepError, UsageError
from sweep.load.client import Target
from sweep.load.health import merged, raise_descriptor_limit
from sweep.load.shard import Order, Report, Shard, joined, records_of
from sweep.model import Cell, Endpoint, Health, Outcome
from sweep.plan.arrival import OPEN
from sweep.records import EMPTY, Records, concat

CLOSE_S = 1.5
START_S = 30.0
BEGIN_NS = 40_000_000  # from the order to the first request: time for every worker to prepare
SPARE_DESCRIPTORS = 64
# `-c` instead of multiprocessing's spawn: that would import the caller's main module anew in every worker.
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from sweep.load.worker import main; main(int(sys.argv[1]))"


@dataclass(frozen=True, slots=True)
class Batch:
    """`done`: the requests that ended since the batch before; `open`: every request in flight now, its outcome null."""

    worker: int
    at_ns: int
    done: Records
    open: Records
    last: bool
    health: Health | None


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    open: Records = EMPTY
    health: Health | None = None
    ready: bool = False

    def order(self, order: Order) -> None:
        try:
            self.connection.send_bytes(msgspec.msgpack.encode(order))
        except OSError:
            return  # it died; reading from it says so


@dataclass(slots=True)
class Running:
    """A cell under way. Iterate over its batches until the last one, which carries its health."""

    workers: dict[int, _Worker]
    columns: dict[str, int]
    busy: set[int] = field(default_factory=set)

    def finish(self, end_ns: int) -> None:
        """Keep the load on until all that was sent (open loop: planned) before `end_ns` has ended, then cut the rest."""
        self._order(Order(command="finish", end_ns=end_ns))

    def abort(self) -> None:
        """Cut everything now."""
        self._order(Order(command="abort"))

    def close(self) -> None:
        """Ends the cell whatever its state; a worker that does not follow within `CLOSE_S` is killed."""
        self.abort()
        until = monotonic() + CLOSE_S
        while self.busy and monotonic() < until:
            for _ in self._ready(0.1):
                pass
        for number in self.busy:
            self.workers[number].process.kill()
        self.busy.clear()

    def __iter__(self) -> Iterator[Batch]:
        while self.busy:
            yield from self._ready(1.0)

    def _order(self, order: Order) -> None:
        for number in self.busy:
            self.workers[number].order(order)

    def _ready(self, timeout_s: float) -> Iterator[Batch]:
        numbers = {self.workers[number].connection: number for number in self.busy}
        for connection in wait(list(numbers), timeout_s):
            assert isinstance(connection, Connection)
            yield self._read(numbers[connection], connection)

    def _read(self, number: int, connection: Connection) -> Batch:
        worker = self.workers[number]
        try:
            report = msgspec.msgpack.decode(connection.recv_bytes(), type=Report)
        except (EOFError, OSError):
            connection.close()
            done, worker.open = _given_up(worker.open), EMPTY
            at_ns = monotonic_ns()
            self.busy.discard(number)
        else:
            columns = {**self.columns, "worker": number}
            done = joined(worker.open, records_of(report.done, **columns))
            # What ended while the worker was telling is told as open once more: its outcome belongs to the next report.
            still = records_of(report.open, **columns)
            worker.open = joined(worker.open, still.replace(outcome=np.full(len(still), None, object)))
            at_ns, worker.health = report.at_ns, report.health
            if report.last:
                self.busy.discard(number)
        last = not self.busy
        health = merged([each.health for each in self.workers.values() if each.health is not None]) if last else None
        in_flight = concat([each.open for each in self.workers.values()])
        return Batch(number, at_ns, done, in_flight, last, health)


def _given_up(records: Records) -> Records:
    """Requests whose worker died, as failures."""
    outcome, error = (np.full(len(records), text, object) for text in (Outcome.CUT.value, "the worker died"))
    return records.replace(outcome=outcome, error=error)


class Fleet:
    """Worker processes for one target, as a context manager."""

    def __init__(self, target: Target, workers: int = 1) -> None:
        self._target = target
        self._descriptors = raise_descriptor_limit()
        self._workers = {number: _spawn() for number in range(workers)}
        self._running: Running | None = None

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str) -> Running:
        """Starts the cell at once. UsageError when this machine cannot carry its load."""
        self._check(cell)
        if self._running is not None:
            self._running.close()
        for number, worker in self._workers.items():
            if worker.process.poll() is not None or worker.connection.closed:
                worker.process.kill()
                worker.process.wait()
                worker.connection.close()
                self._workers[number] = _spawn()
        self._await_ready()
        busy = set()
        begin_ns = monotonic_ns() + BEGIN_NS
        for number, worker in self._workers.items():
            shard = Shard(
                cell=cell,
                endpoint=endpoint,
                target=self._target,
                run_id=run_id,
                begin_ns=begin_ns,
                worker=number,
                workers=len(self._workers),
            )
            worker.open, worker.health = EMPTY, None
            if cell.load.kind in OPEN or shard.slots:
                worker.order(Order(command="measure", shard=shard))
                busy.add(number)
        self._running = Running(
            {number: self._workers[number] for number in busy}, {"cell": cell.index, "repeat": cell.repeat}, busy
        )
        return self._running

    def _await_ready(self) -> None:
        for worker in self._workers.values():
            while not worker.ready:
                try:
                    if not worker.connection.poll(START_S):
                        raise EOFError
                    worker.ready = worker.connection.recv_bytes() is not None
                except (EOFError, OSError):
                    raise SweepError("a worker process did not start", "see what it says above; please report it") from None

    def _check(self, cell: Cell) -> None:
        load = cell.load
        if load.kind != "closed" and load.kind not in OPEN:
            raise UsageError(f"{load.kind} load cannot be driven", f"use closed, {', '.join(OPEN)}")
        if load.kind == "closed" and (load.level < 1 or load.level != round(load.level)):
            raise UsageError(f"a closed loop of {load.level:g} slots", "give a whole number, 1 or more")
        needed = load.level / len(self._workers) + SPARE_DESCRIPTORS
        if load.kind == "closed" and self._descriptors is not None and needed > self._descriptors:
            raise UsageError(
                f"{load.level:g} connections need more descriptors than this machine allows ({self._descriptors})",
                "raise the hard limit (ulimit -Hn)",
            )

    def close(self) -> None:
        """Ends every worker, within `CLOSE_S` and a little."""
        for worker in self._workers.values():
            worker.connection.close()
        until = monotonic() + CLOSE_S
        for worker in self._workers.values():
            try:
                worker.process.wait(max(0.0, until - monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        self._workers.clear()


def _spawn() -> _Worker:
    """A worker in a session of its own: Ctrl-C at the terminal reaches the fleet, which then decides."""
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, str(theirs.fileno()), json.dumps(sys.path)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    return _Worker(process, ours)
