"""The endpoint's truth log beside the client's records: rows joined by request number, times put in their place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.model import Outcome
from sweep.records import Records, null_of

Ints = NDArray[np.int64]


class TruthRow(msgspec.Struct, frozen=True):
    """What is needed of a row of the log; times in CLOCK_MONOTONIC ns. Bytes left between `write_ns` and `written_ns`."""

    id: str | None
    arrival_ns: int
    step_ns: list[int]
    write_ns: list[int]
    written_ns: list[int]
    write_tokens: list[int]


@dataclass(frozen=True, slots=True)
class Joined:
    """`ours` are the records that the log knows, `truth` the same with the true times.

    A true time lies between two stamps of the endpoint, before and after its send. The one nearest to ours is taken as the
    truth, so that an endpoint held up while it sent is not charged to the client.
    """

    ours: Records
    truth: Records
    before_ns: Ints  # of every chunk
    arrival_ns: Ints  # when the endpoint had read each request
    late_ns: Ints  # of every chunk of the endpoint: handed over after the end of its step
    unmatched: int


def rows_of(log: bytes, run_id: str) -> dict[int, TruthRow]:
    """Request number -> row, of the requests `<number>-<run_id>`. Raises ValueError for what is no truth log."""
    found: dict[int, TruthRow] = {}
    for row in msgspec.json.Decoder(TruthRow).decode_lines(log):
        number, _, run = (row.id or "").partition("-")
        if run == run_id and number.isdecimal():
            found[int(number)] = row
    return found


def join(records: Records, rows: Mapping[int, TruthRow]) -> Joined:
    """Chunk k of a request is write k of its row: the endpoint writes one chunk at a time, in order.

    An answered request whose chunks and writes differ in number, or that the log does not know, is unmatched and left out.
    """
    chunks = np.diff(records.chunk_start)
    answered = records["outcome"] == Outcome.OK.value
    kept, begun, ended, tokens, unmatched = [], [], [], [], 0
    for index, (number, count) in enumerate(zip(records["request"].tolist(), chunks.tolist(), strict=True)):
        row = rows.get(number)
        written = len(row.write_ns) if row else -1
        if row is None or written < count or (answered[index] and written != count):
            unmatched += int(answered[index])
            continue
        kept.append(index)
        begun.append(np.array(row.write_ns[:count], np.int64))
        ended.append(np.array(row.written_ns[:count], np.int64))
        tokens.append(np.array(row.write_tokens[:count], np.int64))
    ours = records.where(np.array(kept, np.intp))
    known = [rows[number] for number in ours["request"].tolist()]
    late = [np.array(row.write_ns, np.int64) - row.step_ns for row in known if len(row.write_ns) == len(row.step_ns)]
    begun_ns, ended_ns = _joined(begun), _joined(ended)
    return Joined(
        ours,
        _with_times(ours, np.clip(ours.chunk_ns, begun_ns, ended_ns), _joined(tokens)),
        begun_ns,
        np.array([row.arrival_ns for row in known], np.int64),
        _joined(late),
        unmatched,
    )


def _with_times(ours: Records, write_ns: Ints, tokens: Ints) -> Records:
    """The records as they would be had every stamp been the moment the bytes left."""
    told = np.diff(ours.chunk_start) > 0
    first_ns, last_ns = ours["first_ns"].copy(), ours["last_ns"].copy()
    first_ns[told] = write_ns[ours.chunk_start[:-1][told]]
    last_ns[told] = write_ns[ours.chunk_start[1:][told] - 1]
    rows = ours.chunk_rows()
    gaps = np.full(len(ours), null_of("max_gap_ns"), np.int64)
    inner = rows[1:] == rows[:-1]
    np.maximum.at(gaps, rows[1:][inner], np.diff(write_ns)[inner])
    columns = {**ours.columns, "first_ns": first_ns, "last_ns": last_ns, "max_gap_ns": gaps}
    return Records(columns, ours.chunk_start, write_ns, tokens)


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
