"""The worker processes: one started at once, the others with the first cell, kept between cells, fed shards."""

from __future__ import annotations

import os
from time import monotonic, monotonic_ns
from types import TracebackType

from sweep.errors import UsageError
from sweep.load.client import Target, target_from
from sweep.load.descriptors import raise_limit
from sweep.load.material import lend
from sweep.load.process import Worker, spawn
from sweep.load.running import CLOSE_S, Running
from sweep.load.shard import Order, Shard
from sweep.load.sizing import calibrate, cores, require_room, workers_for, workers_to_hold
from sweep.model import Cell, Endpoint, Plan
from sweep.plan.arrival import OPEN
from sweep.plan.budget import busiest
from sweep.prompt.dataset import Material
from sweep.prompt.ids import Passage

BEGIN_NS = 40_000_000  # from the order to the first request: time for every worker to prepare
BEGIN_OPEN_NS = 250_000_000  # and to dial ahead


class Fleet:
    """Worker processes for one target, as a context manager."""

    def __init__(self, target: Target, workers: int | None = 1, material: Material | None = None) -> None:
        """`workers` None: one, and as many more as the plans told to `fit` need. `material`: texts of the user's own."""
        self._target = target
        self._asked = workers
        self._size = workers or 1
        self._useful = 0  # the most that a plan told to `fit` can keep busy
        self._sustained: float | None = None  # events/s of one worker, once that had to be known
        self._descriptors = raise_limit()
        self._material_fd = None if material is None else lend(material)
        self._workers = {0: self._spawn()}
        self._running: Running | None = None

    def _spawn(self) -> Worker:
        return spawn(self._material_fd)

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def fit(self, plan: Plan, endpoint: Endpoint) -> None:
        """As many workers as the plan's pace needs, or as asked for, but for those that would have nothing to do.

        UsageError when this machine has no room for the plan's connections.
        """
        connections, events_per_s = busiest(plan, endpoint)
        require_room(connections, cores() if self._asked is None else self._asked, self._descriptors)
        if self._asked is None:
            wanted = max(workers_for(events_per_s, self._one_sustains), workers_to_hold(connections, self._descriptors))
            self._size = max(self._size, wanted)
        else:
            slots, _ = busiest(plan, None)
            self._useful = max(self._useful, self._asked if plan.kind in OPEN else round(slots))
            self._size = min(self._asked, self._useful)

    @property
    def workers(self) -> int:
        """How many a cell is measured with."""
        return self._size

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
            if worker.dead:
                worker.close()
                self._workers[number] = self._spawn()
        for number in range(len(self._workers), self._size):
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
            worker.begin_cell()
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
            worker.await_ready()

    def _check(self, cell: Cell, endpoint: Endpoint, passage: Passage | None) -> None:
        load = cell.load
        if endpoint.takes_ids and passage is None:
            raise UsageError("prompts were token ids, and the endpoint takes none any more", "start a new sweep")
        if load.kind != "closed" and load.kind not in OPEN:
            raise UsageError(f"{load.kind} load cannot be driven", f"use closed, {', '.join(OPEN)}")
        if load.kind == "closed" and (load.level < 1 or load.level != round(load.level)):
            raise UsageError(f"a closed loop of {load.level:g} slots", "give a whole number, 1 or more")
        if load.kind == "closed":
            require_room(load.level, self._size, self._descriptors)

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
