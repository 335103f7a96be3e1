"""What was read before need not be read again: `history.index.json`, beside the files it is about.

A cache, never a source. An entry counts only while size and modification time of its file are the same; a lost, damaged or
foreign index is rebuilt. It is written whole and renamed into place, so the last of two writers wins and neither reads half.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from sweep import __version__
from sweep.curve.files import write_atomically
from sweep.curve.nightly import night
from sweep.errors import OutputError
from sweep.model import Night

NAME = "history.index.json"
SCHEMA = f"sweep.history/1 by {__version__}"  # what a night holds is this version's


class Entry(msgspec.Struct, frozen=True):
    size: int
    modified_ns: int
    night: Night


class _Index(msgspec.Struct):
    schema: str
    files: dict[str, Entry]


class Index:
    """The nights of one folder. `save` writes only what has changed, and a folder that cannot be written is no error."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = _load(folder / NAME)
        self._used: dict[str, Entry] = {}

    def read(self, path: Path) -> Night:
        """The night of a file below the folder. Raises ArtifactError."""
        key = path.relative_to(self._folder).as_posix()
        status = path.stat()
        entry = self._known.get(key)
        if entry is None or (entry.size, entry.modified_ns) != (status.st_size, status.st_mtime_ns):
            entry = Entry(status.st_size, status.st_mtime_ns, night.read(path))
        self._used[key] = entry
        return msgspec.structs.replace(entry.night, file=str(path))

    def save(self) -> None:
        if self._used == self._known:
            return
        with suppress(OutputError):
            write_atomically(self._folder / NAME, msgspec.json.encode(_Index(SCHEMA, self._used), order="sorted"))


def _load(path: Path) -> dict[str, Entry]:
    try:
        index = msgspec.json.decode(path.read_bytes(), type=_Index)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return index.files if index.schema == SCHEMA else {}
