"""What really happened to each request, in CLOCK_MONOTONIC ns: the log the measuring side is compared with.

`step_ns` are the ends of the steps that made tokens; `write_ns` and `written_ns` enclose the handing of their bytes to the
socket, so the bytes left in between. What lies before is the endpoint's own lateness, what comes after is the client's.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from io import BufferedWriter
from pathlib import Path

import msgspec

from sweep.errors import OutputError

KEPT_CHUNKS = 4_000_000


@dataclass(slots=True)
class Row:
    """One request. `key` is what its faults are drawn by; `outcome` is ok, left (by the client), or the fault that ended it."""

    id: str | None
    request: int
    key: int
    dialect: str
    prompt_tokens: int
    osl: int
    arrival_ns: int
    faults: list[str]
    admitted_ns: int | None = None
    step_ns: array[int] = field(default_factory=lambda: array("q"))
    step_tokens: array[int] = field(default_factory=lambda: array("i"))
    write_ns: array[int] = field(default_factory=lambda: array("q"))
    written_ns: array[int] = field(default_factory=lambda: array("q"))
    write_tokens: array[int] = field(default_factory=lambda: array("i"))
    preemptions: int = 0
    cached_tokens: int = 0
    outcome: str = "ok"

    def wrote(self, began_ns: int, ended_ns: int, tokens: int) -> None:
        self.write_ns.append(began_ns)
        self.written_ns.append(ended_ns)
        self.write_tokens.append(tokens)

    def to_json(self) -> bytes:
        """One line, without its end."""
        told = {name: getattr(self, name) for name in Row.__slots__}
        told |= {name: list(value) for name, value in told.items() if isinstance(value, array)}
        first, last = (self.step_ns[0], self.step_ns[-1]) if self.step_ns else (None, None)
        return msgspec.json.encode(told | {"first_ns": first, "last_ns": last})


class Log:
    """The last requests in memory, and all of them in a file when one is named. Reading it holds the server up."""

    def __init__(self, path: str | None = None) -> None:
        self.rows: deque[Row] = deque()
        self._chunks = 0
        self._file = _created(path) if path else None

    def add(self, row: Row) -> None:
        self.rows.append(row)
        self._chunks += len(row.step_ns)
        while self._chunks > KEPT_CHUNKS:
            self._chunks -= len(self.rows.popleft().step_ns)
        if self._file:
            self._file.write(row.to_json() + b"\n")

    def clear(self) -> None:
        self.rows.clear()
        self._chunks = 0

    def lines(self) -> bytes:
        return b"".join(row.to_json() + b"\n" for row in self.rows)

    def close(self) -> None:
        if self._file:
            self._file.close()


def _created(path: str) -> BufferedWriter:
    """OutputError when it cannot be written."""
    try:
        return Path(path).open("wb")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}", "choose another file with --truth") from None
