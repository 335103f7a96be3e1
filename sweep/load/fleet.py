"""The worker processes: started at once, kept between cells, fed shards, read as batches."""

from __future__ import annotations

import json
import os
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
from sweep.load.client import Target, target_from
from sweep.load.descriptors import raise_limit
from sweep.load.health import merged
from sweep.load.material import lend
from sweep.load.recount import Texts, recounted
from sweep.load.roll import Roll
from sweep.load.shard import Order, Report, Shard, joined, records_of, rows_of
from sweep.load.sizing import calibrate, cores, require_room, workers_for, workers_to_hold
from sweep.model import Cell, Endpoint, Health, Outcome, Plan, TokenSource
from sweep.plan.arrival import OPEN
from sweep.plan.budget import busiest
from sweep.prompt.dataset import Material
from sweep.prompt.ids import Passage
from sweep.records import EMPTY, Batch, Records, concat, from_rows

CLOSE_S = 1.5
START_S = 30.0
BEGIN_NS = 40_000_000  # from the order to the first request: time for every worker to prepare
BEGIN_OPEN_NS = 250_000_000  # and to dial ahead
# `-c` instead of multiprocessing's spawn: that would import the caller's main module anew in every worker.
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from sweep.load.worker import main; main(*json.loads(sys.argv[1]))"


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: Connection
    roll: Roll
    open: Records = EMPTY
    ended: int = 0  # requests of this cell that it has reported as ended, and the chunks they had
    events: int = 0
    health: Health | None = None
    ready: bool = False

    def order(self, order: Order) -> None:
        try:
            self.connection.send_bytes(msgspec.msgpack.encode(order))
        except OSError:
            return  # it died; reading from it says so

    def close(self, within_s: float = 0.0) -> None:
        """Ends the process, by force after `within_s`."""
        self.connection.close()
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.roll.close()


@dataclass(slots=True)
class Running:
    """A cell under way. Iterate over its batches until the last one, which carries its health."""

    target: Target
    endpoint: Endpoint
    workers: dict[int, _Worker]
    columns: dict[str, int]
    begin_ns: int
    sustained: float | None = None  # events/s that a worker can take
    busy: set[int] = field(default_factory=set)
    lost: int = 0  # workers that died
    texts: Texts = field(default_factory=Texts)

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
            self.workers[number].process.wait()
        self.busy.clear()

    def recounted(self, records: Records) -> Records:
        """All its records, once it is over: answers that nobody counted are counted by a tokenizer, where there is one."""
        return recounted(records, self.texts.kept, self.target, self.endpoint)

    def __iter__(self) -> Iterator[Batch]:
        while self.busy:
            yield from self._ready(1.0)

    def _order(self, order: Order) -> None:
        for number in tuple(self.busy):  # whoever ends a cell may be another thread than its reader
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
            done, worker.open = self._given_up(number), EMPTY
            at_ns = monotonic_ns()
            self.busy.discard(number)
            self.lost += 1
        else:
            columns = {**self.columns, "worker": number}
            ended = rows_of(report.done)
            self.texts.keep(ended)
            done = joined(worker.open, records_of(ended, **columns))
            # What ended while the worker was telling is told as open once more: its outcome belongs to the next report.
            still = records_of(rows_of(report.open), **columns)
            worker.open = joined(worker.open, still.replace(outcome=np.full(len(still), None, object)))
            worker.ended += len(done)
            worker.events += int(done["chunks"].sum())
            at_ns = report.at_ns
            worker.health = self._observed(report.health, worker.events, at_ns)
            if report.last:
                self.busy.discard(number)
        last = not self.busy
        health = self._health() if last else None
        in_flight = concat([each.open for each in self.workers.values()])
        return Batch(number, at_ns, done, in_flight, last, health)

    def _observed(self, health: Health | None, events: int, now_ns: int) -> Health | None:
        """With the worker's pace against what it sustains, where that is known."""
        if health is None or self.sustained is None:
            return health
        seconds = max(now_ns - self.begin_ns, 1) / 1e9
        return msgspec.structs.replace(health, calibrated_share=events / seconds / self.sustained)

    def _health(self) -> Health:
        """Of the workers that lived to tell."""
        told = merged([each.health for each in self.workers.values() if each.health is not None])
        return msgspec.structs.replace(told or Health(stamp_source="kernel", workers=0), workers_lost=self.lost)

    def _given_up(self, number: int) -> Records:
        """The requests of a worker that died, as failures: those it reported as open and those it had not reported yet."""
        worker = self.workers[number]
        columns = {**self.columns, "worker": number}
        silent = [each._asdict() for each in worker.roll.after(worker.ended + len(worker.open))]
        unknown = {"token_source": TokenSource.UNKNOWN.value, "chunks": 0, "retries": 0}
        records = concat([worker.open, from_rows([{**columns, **unknown, **each} for each in silent])])
        outcome, error = (np.full(len(records), text, object) for text in (Outcome.CUT.value, "the worker died"))
        return records.replace(outcome=outcome, error=error)


def _spawn(material_fd: int | None) -> _Worker:
    """A worker in a session of its own: Ctrl-C at the terminal reaches the fleet, which then decides."""
    roll = Roll()
    ours, theirs = Pipe()
    with theirs:
        fds = [theirs.fileno(), roll.fd, material_fd]
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(fds), json.dumps(sys.path)],
            pass_fds=[fd for fd in fds if fd is not None],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    return _Worker(process, ours, roll)


class Fleet:
    """Worker processes for one target, as a context manager."""

    def __init__(self, target: Target, workers: int | None = 1, material: Material | None = None) -> None:
        """`workers` None: one, and as many more as the plans told to `fit` need. `material`: texts of the user's own."""
        self._target = target
        self._sizes_itself = workers is None
        self._sustained: float | None = None  # events/s of one worker, once that had to be known
        self._descriptors = raise_limit()
        self._material_fd = None if material is None else lend(material)
        self._workers = {number: self._spawn() for number in range(workers or 1)}
        self._running: Running | None = None

    def _spawn(self) -> _Worker:
        return _spawn(self._material_fd)

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def fit(self, plan: Plan, endpoint: Endpoint) -> None:
        """Grows to what the plan's pace needs. UsageError when this machine has no room for its connections."""
        connections, events_per_s = busiest(plan, endpoint)
        require_room(connections, cores() if self._sizes_itself else self.workers, self._descriptors)
        if self._sizes_itself:
            wanted = max(workers_for(events_per_s, self._one_sustains), workers_to_hold(connections, self._descriptors))
            for number in range(self.workers, wanted):
                self._workers[number] = self._spawn()

    @property
    def workers(self) -> int:
        return len(self._workers)

    def _one_sustains(self) -> float:
        if self._sustained is None:
            self._sustained = calibrate(lambda url: Fleet(target_from(url, environ={})))
        return self._sustained

    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str, passage: Passage | None = None) -> Running:
        """Starts the cell at once, its prompts cut from `passage` where they are token ids.

        UsageError when this machine cannot carry its load.
        """
        self._check(cell, endpoint, passage)
        if self._running is not None:
            self._running.close()
        for number, worker in self._workers.items():
            if worker.process.poll() is not None or worker.connection.closed:
                worker.close()
                self._workers[number] = self._spawn()
        self.await_ready()
        busy = set()
        begin_ns = monotonic_ns() + (BEGIN_OPEN_NS if cell.load.kind in OPEN else BEGIN_NS)
        for number, worker in self._workers.items():
            shard = Shard(
                cell=cell,
                endpoint=endpoint,
                target=self._target,
                run_id=run_id,
                begin_ns=begin_ns,
                worker=number,
                workers=len(self._workers),
                passage=passage if endpoint.takes_ids else None,
            )
            worker.open, worker.ended, worker.events, worker.health = EMPTY, 0, 0, None
            worker.roll.restart()
            if cell.load.kind in OPEN or shard.slots:
                worker.order(Order(command="measure", shard=shard))
                busy.add(number)
        self._running = Running(
            self._target,
            endpoint,
            {number: self._workers[number] for number in busy},
            {"cell": cell.index, "repeat": cell.repeat},
            begin_ns,
            self._sustained,
            busy,
        )
        return self._running

    def await_ready(self) -> None:
        """Returns when every worker has started."""
        for worker in self._workers.values():
            while not worker.ready:
                try:
                    if not worker.connection.poll(START_S):
                        raise EOFError
                    worker.ready = worker.connection.recv_bytes() is not None
                except (EOFError, OSError):
                    raise SweepError("a worker process did not start", "see what it says above; please report it") from None

    def _check(self, cell: Cell, endpoint: Endpoint, passage: Passage | None) -> None:
        load = cell.load
        if endpoint.takes_ids and passage is None:
            raise UsageError("prompts were token ids, and the endpoint takes none any more", "start a new sweep")
        if load.kind != "closed" and load.kind not in OPEN:
            raise UsageError(f"{load.kind} load cannot be driven", f"use closed, {', '.join(OPEN)}")
        if load.kind == "closed" and (load.level < 1 or load.level != round(load.level)):
            raise UsageError(f"a closed loop of {load.level:g} slots", "give a whole number, 1 or more")
        if load.kind == "closed":
            require_room(load.level, len(self._workers), self._descriptors)

    def close(self) -> None:
        """Ends every worker, within `CLOSE_S` and a little."""
        for worker in self._workers.values():
            worker.connection.close()  # all at once, then one after the other
        until = monotonic() + CLOSE_S
        for worker in self._workers.values():
            worker.close(max(0.0, until - monotonic()))
        self._workers.clear()
        if self._material_fd is not None:
            os.close(self._material_fd)
            self._material_fd = None
