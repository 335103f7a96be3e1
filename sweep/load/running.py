"""A cell under way on worker processes: what they report, as batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from time import monotonic, monotonic_ns

import msgspec
import numpy as np

from sweep.load.client import Target
from sweep.load.health import merged
from sweep.load.process import Worker
from sweep.load.recount import Texts, recounted
from sweep.load.shard import Order, Report, joined, records_of, rows_of
from sweep.model import Endpoint, Health, Outcome, TokenSource
from sweep.records import EMPTY, Batch, Records, concat, from_rows

CLOSE_S = 1.5


@dataclass(slots=True)
class Running:
    """A cell under way. Iterate over its batches until the last one, which carries its health."""

    target: Target
    endpoint: Endpoint
    workers: dict[int, Worker]
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

    def recounted(self, records: Records) -> tuple[Records, bool]:
        """All its records, once it is over: answers that nobody counted are counted by a tokenizer, where there is one.

        And whether the user interrupted that.
        """
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
