"""The journal of a running sweep: every finished cell is on the disk before the next begins.

    DIR/journal/lock                   held by the process that measures into DIR
    DIR/journal/header.json            what is measured, written once; again when a resumed sweep has other limits
    DIR/journal/cell-00003.parquet     the records of cell 3
    DIR/journal/cell-00003.json        cell 3 and its point; its presence says that the cell is finished

Files appear whole or not at all, so a crash loses at most the running cell. A file that is damaged all the same (a disk that
lied) counts as not measured and is named in `damaged`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sweep.curve import lock
from sweep.curve.files import write_atomically
from sweep.curve.parquet import read_records, write_records
from sweep.curve.setup import Declared
from sweep.errors import ArtifactError, OutputError
from sweep.model import Cell, Endpoint, Noun, Plan, Point, Tool
from sweep.records import Records, concat

SCHEMA = "sweep.journal/1"
LOST_REQUESTS = 1_000_000  # more than a lost cell can have sent: a resumed sweep skips as many numbers


class RunSettings(Noun, frozen=True, kw_only=True):
    """How the run itself was set up, beside its plan. Never a key or a header value."""

    virtual: bool = False
    workers: int | None = None  # as asked; None: sized by the plan
    max_tokens: int | None = None
    interleaved: dict[str, str] | None = None  # group, place and order, where several endpoints took turns
    dataset: str | None = None
    tokenizer: str | None = None
    canary: bool = True


class Header(Noun, frozen=True, kw_only=True):
    """What a resumed run must know."""

    schema: str = SCHEMA
    name: str
    created_at: str
    run_id: str
    tool: Tool
    plan: Plan
    endpoint: Endpoint
    keep_chunks: bool = False
    declared: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)  # as `declare.parse` gives it
    settings: RunSettings = RunSettings()
    calibration: dict[str, Any] | None = None  # what `sweep selftest --json` said


class Finished(Noun, frozen=True, kw_only=True):
    cell: Cell
    point: Point


@dataclass(frozen=True, slots=True)
class Journal:
    """`finished` in the order of measurement; grows by `append` only."""

    folder: Path
    header: Header
    finished: tuple[Finished, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(one.point for one in self.finished)

    def append(self, cell: Cell, point: Point, records: Records) -> Journal:
        """The journal with one more finished cell, on the disk when this returns. Raises OutputError."""
        stem = _stem(cell)
        write_records(self.folder / f"{stem}.parquet", records, keep_chunks=self.header.keep_chunks)
        entry = Finished(cell=cell, point=point)
        write_atomically(self.folder / f"{stem}.json", msgspec.json.encode(entry))
        return Journal(self.folder, self.header, (*self.finished, entry), self.damaged)

    def records(self) -> Records:
        """The records of every finished cell, in the order of measurement. Raises ArtifactError."""
        return concat([read_records(self.folder / f"{_stem(one.cell)}.parquet") for one in self.finished])

    def under(self, header: Header) -> Journal:
        """The same cells under another header, on the disk when this returns. Raises OutputError."""
        write_atomically(self.folder / "header.json", msgspec.json.encode(header))
        return Journal(self.folder, header, self.finished, self.damaged)

    def next_index(self) -> int:
        """The place in the order of measurement that the next cell takes."""
        return 1 + max((one.cell.index for one in self.finished), default=-1)


def require_free(run_folder: Path) -> None:
    """Raises OutputError when the folder holds a sweep already."""
    if (run_folder / "journal" / "header.json").exists():
        raise OutputError(
            f"{run_folder} already holds a sweep", f"`sweep resume {run_folder}` goes on with it, --name starts another"
        )


@contextmanager
def alone(run_folder: Path) -> Iterator[None]:
    """No other process measures into the folder meanwhile. OutputError while one does, ArtifactError where nothing was begun."""
    with ExitStack() as held:
        try:
            held.enter_context(lock.alone(run_folder / "journal" / "lock"))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _none(run_folder) from error
        except OSError as error:
            raise OutputError(f"{run_folder}: {error.strerror or error}", "make the folder writable") from error
        yield


def make_room(run_folder: Path) -> None:
    """For a journal, in an existing folder. Raises OutputError when one is there already or the folder refuses."""
    require_free(run_folder)
    folder = run_folder / "journal"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}", "choose another folder with --out") from error


def create(run_folder: Path, header: Header) -> Journal:
    """Starts a journal in an existing folder. Raises OutputError as `make_room`."""
    make_room(run_folder)
    folder = run_folder / "journal"
    write_atomically(folder / "header.json", msgspec.json.encode(header))
    return Journal(folder, header)


def reopen(run_folder: Path) -> Journal:
    """The journal as the last run left it. Raises ArtifactError when there is none or its header is not readable."""
    folder, header = run_folder / "journal", _header(run_folder)
    finished, damaged = [], []
    for path in sorted(folder.glob("cell-*.json")):
        try:
            finished.append(_read(path))
        except (OSError, ArtifactError, msgspec.MsgspecError):
            damaged.append(path.name)
    finished.sort(key=lambda one: one.cell.index)
    return Journal(folder, header, tuple(finished), tuple(damaged))


def declare(run_folder: Path, name: str, declared: Declared) -> None:
    """Keeps what was declared afterwards, where the folder has the journal of that curve: a resumed sweep writes the curve anew.

    Raises OutputError, and ArtifactError as `reopen`.
    """
    path = run_folder / "journal" / "header.json"
    if not path.exists() or (header := _header(run_folder)).name != name:
        return
    sections = {**header.declared, **declared}
    whole = {section: {**header.declared.get(section, {}), **declared.get(section, {})} for section in sections}
    write_atomically(path, msgspec.json.encode(msgspec.structs.replace(header, declared=whole)))


def _header(run_folder: Path) -> Header:
    path = run_folder / "journal" / "header.json"
    try:
        header = msgspec.json.decode(path.read_bytes(), type=Header)
    except OSError as error:
        raise _none(run_folder) from error
    except msgspec.MsgspecError as error:
        raise ArtifactError(f"{path}: {error}", "start the sweep again") from error
    if header.schema != SCHEMA:
        raise ArtifactError(f"{run_folder}: journal of another sweep version ({header.schema})", "resume it with that version")
    return header


def _none(run_folder: Path) -> ArtifactError:
    return ArtifactError(f"{run_folder}: no journal of a sweep", "name the folder that the interrupted run wrote")


def next_request(records: Records, *, after_a_loss: bool) -> int:
    """The first request number that no cell has used. After a loss the numbers a lost cell may have sent are skipped."""
    used = 1 + int(records["request"].max()) if len(records) else 0
    return used + LOST_REQUESTS if after_a_loss else used


def _read(path: Path) -> Finished:
    """Both files of a cell hold, or an error."""
    entry = msgspec.json.decode(path.read_bytes(), type=Finished)
    read_records(path.with_suffix(".parquet"))
    return entry


def _stem(cell: Cell) -> str:
    return f"cell-{cell.index:05d}"
