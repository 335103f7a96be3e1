"""One process at a time measures into a folder. The kernel lets go of a lock when its process ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweep.errors import OutputError

TAKEN = {errno.EWOULDBLOCK, errno.EACCES}


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Raises OutputError while another process is inside with the same file, OSError where it cannot be opened.

    A file system that knows no locks is taken to have no other process.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in TAKEN:
                raise _taken(file, os.pread(handle, 20, 0)) from None
        else:
            os.ftruncate(handle, 0)
            os.pwrite(handle, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        os.close(handle)


def _taken(file: Path, said: bytes) -> OutputError:
    who = f"process {int(said)}" if said.strip().isdigit() else "another process"
    return OutputError(f"{file.parent.parent}: {who} is measuring into it", "let it end, or end it; what it measured is kept")
