"""What passes between the fleet and a worker: a shard to measure, commands, reports."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from sweep.load.call import Row
from sweep.load.client import Target
from sweep.model import Cell, Endpoint, Health
from sweep.prompt.ids import Passage
from sweep.records import Records, from_rows, null_of

Command = Literal["measure", "finish", "abort"]


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """Worker `worker` of `workers`: its share of the slots or arrivals, and requests first + worker + k·workers."""

    cell: Cell
    endpoint: Endpoint
    target: Target
    run_id: str
    begin_ns: int  # when the load begins, the same for all workers
    worker: int = 0
    workers: int = 1
    passage: Passage | None = None  # that prompts are cut from where they are token ids

    @property
    def slots(self) -> range:
        """Closed loop: which of the cell's slots are this worker's."""
        return range(self.worker, round(self.cell.load.level), self.workers)


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """From the fleet to a worker."""

    command: Command
    shard: Shard | None = None
    end_ns: int | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """From a worker to the fleet: rows in slices, which hold only the chunks that no earlier report held."""

    at_ns: int
    done: list[bytes]
    open: list[bytes]
    last: bool = False
    health: Health | None = None


_rows = msgspec.msgpack.Decoder(list[Row]).decode


def rows_of(slices: list[bytes]) -> list[Row]:
    """What a report tells."""
    return [row for part in slices for row in _rows(part)]


def records_of(rows: list[Row], **columns: int) -> Records:
    """As records; `columns` are the same in every row."""
    return from_rows(
        {
            **columns,
            **msgspec.structs.asdict(row),
            "chunk_ns": np.frombuffer(row.chunk_ns, np.int64),
            "chunk_tokens": np.frombuffer(row.chunk_tokens, np.int64),
        }
        for row in rows
    )


def joined(earlier: Records, now: Records) -> Records:
    """`now` with the chunks that `earlier` holds of the same requests put first, and `max_gap_ns` filled in."""
    row_of = {int(request): row for row, request in enumerate(now["request"])}
    place = np.array([row_of.get(int(request), -1) for request in earlier["request"]], np.int64)
    rows = np.concatenate([place[earlier.chunk_rows()], now.chunk_rows()])
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    rows = rows[order]
    chunk_ns = np.concatenate([earlier.chunk_ns, now.chunk_ns])[order]
    chunk_tokens = np.concatenate([earlier.chunk_tokens, now.chunk_tokens])[order]
    start = np.searchsorted(rows, np.arange(len(now) + 1)).astype(np.int64)
    gaps = np.full(len(now), null_of("max_gap_ns"), np.int64)
    inner = rows[1:] == rows[:-1]
    np.maximum.at(gaps, rows[1:][inner], np.diff(chunk_ns)[inner])
    return Records({**now.columns, "max_gap_ns": gaps}, start, chunk_ns, chunk_tokens)
