"""Files a person names are read or said to be unreadable; files we write are as they were or complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweep.errors import OutputError, UsageError

MAX_TEXT_BYTES = 16 << 20  # far more than a description or a self-test holds


def read_text(path: Path) -> str:
    """Raises UsageError for a file that is not there, may not be read, is endless, or is not text."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_TEXT_BYTES + 1)
        if len(raw) > MAX_TEXT_BYTES:
            raise UsageError(f"{path}: too big", "name a readable file")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", "name a readable file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text", "name a readable file") from None


def write_atomically(path: Path, data: bytes) -> None:
    """Raises OutputError when the folder or the disk refuses; an earlier file of that name is then untouched."""
    try:
        with _beside(path, data) as beside:
            beside.replace(path)
    except OSError as error:
        raise OutputError(
            f"{path}: {error.strerror or error}", "free some space or choose another folder with --out"
        ) from error


def write_new(path: Path, data: bytes) -> None:
    """As atomically, but never over another file: FileExistsError where the name is taken. Raises OSError."""
    with _beside(path, data) as beside:
        os.link(beside, path)  # unlike a rename, fails where the name is taken


@contextmanager
def _beside(path: Path, data: bytes) -> Iterator[Path]:
    """The data in a file beside, on the disk, to be given its name; whatever happens, nothing stays beside."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield beside
        _flush_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """A rename is on the disk only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
