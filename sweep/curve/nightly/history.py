"""The files of a history: found, read, and ordered by their own times.

A history is a folder that only grows: a curve is appended as a file of its own, and none is ever written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sweep.curve import artifact
from sweep.curve.files import write_new
from sweep.curve.nightly import night as reading
from sweep.curve.nightly.index import Index
from sweep.errors import ArtifactError, OutputError, UsageError
from sweep.model import Curve, Night, SetAside


@dataclass(frozen=True, slots=True)
class Found:
    """Nights in the order of their own times, and files that are none."""

    nights: tuple[Night, ...]
    set_aside: tuple[SetAside, ...]


def find(paths: Iterable[Path]) -> Found:
    """Reads curve files, and those in folders and below; names that begin with a dot are skipped. Raises UsageError."""
    nights: list[Night] = []
    aside: list[SetAside] = []
    for path in paths:
        if path.is_dir():
            index = Index(path)
            files = [file for file in sorted(path.rglob(f"*{artifact.SUFFIX}")) if not _hidden(file.relative_to(path))]
            for file in files:
                _read(file, index, nights, aside)
            index.save()
        elif path.exists():
            _read(path, None, nights, aside)
        else:
            raise UsageError(f"{path}: no such file or folder", "name a folder of curve files")
    nights.sort(key=lambda each: (each.at_s, each.name))
    kept: dict[str, Night] = {}
    for each in nights:
        twin = kept.setdefault(each.digest or each.file, each)
        if twin is not each and Path(twin.file).resolve() != Path(each.file).resolve():
            aside.append(SetAside(file=each.file, reason=f"the same curve as {twin.file}"))
    return Found(tuple(kept.values()), tuple(aside))


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _read(path: Path, index: Index | None, nights: list[Night], aside: list[SetAside]) -> None:
    try:
        nights.append(index.read(path) if index else reading.read(path))
    except (ArtifactError, OSError) as error:
        said = f"{error.message}; {error.hint}" if isinstance(error, ArtifactError) else str(error)
        aside.append(SetAside(file=str(path), reason=said.removeprefix(f"{path.name}: ")))


def append(folder: Path, curve: Curve) -> Path:
    """Adds a curve to a history. The same curve again changes nothing. Raises OutputError rather than write over another."""
    target = folder / f"{curve.name}{artifact.SUFFIX}"
    data = artifact.to_json(curve)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_new(target, data)
    except FileExistsError:
        if target.read_bytes() != data:
            raise OutputError(f"{target}: already in the history with another content", "give the run another --name") from None
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}", "free some space or choose another folder") from error
    return target
