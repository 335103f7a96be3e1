"""Requests as columns: one row a request, ragged chunk arrays beside.

Integer columns hold NULL (the smallest value of their type, as numpy's NaT) where there is no value; it never leaves this
representation: `present` masks it, Parquet stores null. Event times are CLOCK_MONOTONIC ns. Text columns are object arrays
of str | None.

The chunk arrays hold every token-carrying chunk of every row: its time and how many tokens it brought;
row i owns chunk_ns[chunk_start[i]:chunk_start[i+1]].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.model import Health

INT: Mapping[str, type[np.signedinteger[Any]]] = {
    "cell": np.int32,
    "repeat": np.int32,
    "request": np.int32,
    "session": np.int32,
    "turn": np.int32,
    "worker": np.int32,
    "planned_ns": np.int64,
    "connected_ns": np.int64,
    "sent_ns": np.int64,
    "first_ns": np.int64,
    "first_answer_ns": np.int64,
    "last_ns": np.int64,
    "end_ns": np.int64,
    "isl_asked": np.int64,
    "isl": np.int64,
    "osl_asked": np.int64,
    "osl": np.int64,
    "first_tokens": np.int64,
    "cached_tokens": np.int64,
    "chunks": np.int64,
    "events_per_read_max": np.int64,
    "max_gap_ns": np.int64,
    "retries": np.int64,
    "status": np.int16,
    "retry_after_s": np.int64,
}
ORDER = (
    "cell", "repeat", "request", "session", "turn", "worker", "phase", "planned_ns", "connected_ns", "sent_ns", "first_ns",
    "first_answer_ns", "last_ns", "end_ns", "isl_asked", "isl", "osl_asked", "osl", "token_source", "first_tokens",
    "cached_tokens", "chunks", "events_per_read_max", "max_gap_ns", "retries", "outcome", "status",
    "retry_after_s", "error",
)  # fmt: skip
"""All columns; those that are not in `INT` are text."""


def null_of(column: str) -> int:
    return int(np.iinfo(INT[column]).min)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    columns: dict[str, NDArray[Any]]
    chunk_start: NDArray[np.int64]  # n + 1
    chunk_ns: NDArray[np.int64]
    chunk_tokens: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.chunk_start) - 1

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def present(self, column: str) -> NDArray[np.bool_]:
        """Where an integer column has a value."""
        mask: NDArray[np.bool_] = self.columns[column] != null_of(column)
        return mask

    def where(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Records:
        """The rows of a mask or of an index array, in that order, with their chunks."""
        rows = np.flatnonzero(keep) if keep.dtype == np.bool_ else keep
        counts = np.diff(self.chunk_start)[rows]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        pick = np.repeat(self.chunk_start[:-1][rows] - start[:-1], counts) + np.arange(int(start[-1]))
        return Records(
            {name: values[rows] for name, values in self.columns.items()}, start, self.chunk_ns[pick], self.chunk_tokens[pick]
        )

    def replace(self, **columns: NDArray[Any]) -> Records:
        return Records({**self.columns, **columns}, self.chunk_start, self.chunk_ns, self.chunk_tokens)

    def chunk_rows(self) -> NDArray[np.int64]:
        """For every chunk, the row it belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.chunk_start))


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What a worker says of a running cell. `done`: the requests that ended since its batch before; `open`: every request in
    flight now, whoever sent it, its outcome null. The last one may bring what the worker observed of itself.
    """

    worker: int
    at_ns: int
    done: Records
    open: Records
    last: bool
    health: Health | None


def _text(values: Sequence[str | None]) -> NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def from_rows(rows: Iterable[Mapping[str, Any]]) -> Records:
    """Rows as mappings column -> value; absent or None is null. `chunk_ns` and `chunk_tokens` are sequences of equal length."""
    kept = list(rows)
    columns: dict[str, NDArray[Any]] = {}
    for name in ORDER:
        values = [row.get(name) for row in kept]
        if name in INT:
            empty = null_of(name)
            columns[name] = np.array([empty if value is None else value for value in values], dtype=INT[name])
        else:
            columns[name] = _text(values)
    counts = [len(row.get("chunk_ns", ())) for row in kept]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    chunk_ns = [np.asarray(row["chunk_ns"], np.int64) for row in kept if len(row.get("chunk_ns", ()))]
    tokens = [np.asarray(row["chunk_tokens"], np.int64) for row in kept if len(row.get("chunk_ns", ()))]
    return Records(columns, start, _joined(chunk_ns), _joined(tokens))


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


EMPTY = from_rows(())


def concat(parts: Sequence[Records]) -> Records:
    if not parts:
        return EMPTY
    lengths = np.concatenate([np.diff(part.chunk_start) for part in parts])
    return Records(
        {name: np.concatenate([part.columns[name] for part in parts]) for name in ORDER},
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([part.chunk_ns for part in parts]),
        np.concatenate([part.chunk_tokens for part in parts]),
    )
