"""Which requests a worker has begun, in memory that outlives it: what it had not reported when it died is not lost."""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from typing import NamedTuple

PLACES = 65_536  # more than are begun between two reports
_ENTRY = struct.Struct("4q")


class Begun(NamedTuple):
    request: int
    planned_ns: int
    isl_asked: int
    osl_asked: int


class Roll:
    """Shared by two processes: the one that made it reads, the one that got its `fd` writes."""

    def __init__(self, fd: int | None = None) -> None:
        size = _ENTRY.size * (PLACES + 1)
        if fd is None:
            with tempfile.TemporaryFile() as file:
                file.truncate(size)
                self.fd = os.dup(file.fileno())
        else:
            self.fd = fd
        self._memory = mmap.mmap(self.fd, size)
        self._count = 0

    def add(self, *entry: int) -> None:
        """Takes note of a request; see `Begun`."""
        _ENTRY.pack_into(self._memory, _ENTRY.size * (1 + self._count % PLACES), *entry)
        self._count += 1
        _ENTRY.pack_into(self._memory, 0, self._count, 0, 0, 0)

    def after(self, count: int) -> list[Begun]:
        """What was begun after the first `count`."""
        total = _ENTRY.unpack_from(self._memory, 0)[0]
        places = range(max(count, total - PLACES), total)
        return [Begun(*_ENTRY.unpack_from(self._memory, _ENTRY.size * (1 + place % PLACES))) for place in places]

    def restart(self) -> None:
        """Before a cell."""
        self._count = 0
        _ENTRY.pack_into(self._memory, 0, 0, 0, 0, 0)

    def close(self) -> None:
        self._memory.close()
        os.close(self.fd)
