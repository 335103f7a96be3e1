"""Records as Parquet: one row a request, null where there is no value; chunk arrays as list columns when they are kept."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sweep.curve.artifact import SUFFIX
from sweep.curve.files import write_atomically
from sweep.errors import ArtifactError
from sweep.records import INT, ORDER, Records, null_of

if TYPE_CHECKING:
    import polars as pl

CHUNKS = ("chunk_ns", "chunk_tokens")


def beside(curve_file: Path) -> Path:
    """Where the records of a curve file lie, if they do."""
    return curve_file.with_name(curve_file.name.removesuffix(SUFFIX) + ".records.parquet")


def write_records(path: Path, records: Records, *, keep_chunks: bool = False) -> None:
    """Writes the columns of `records.ORDER`, and `chunk_ns`, `chunk_tokens` when asked. Raises OutputError."""
    buffer = io.BytesIO()
    to_frame(records, keep_chunks=keep_chunks).write_parquet(buffer, compression="zstd")
    write_atomically(path, buffer.getvalue())


def read_records(path: Path) -> Records:
    """A column the file lacks is null throughout; columns of later versions are ignored. Raises ArtifactError."""
    import polars as pl

    try:
        frame = pl.read_parquet(path)
        return from_frame(frame)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArtifactError(f"{path}: not readable as records: {reason}", "the curve file itself does not need it") from error


def to_frame(records: Records, *, keep_chunks: bool = False) -> pl.DataFrame:
    """The columns of `ORDER` in their own types, null where there is no value; with `keep_chunks` the chunk lists too."""
    import polars as pl

    integers = {np.int16: pl.Int16, np.int32: pl.Int32, np.int64: pl.Int64}
    columns = []
    for name in ORDER:
        if name in INT:
            series = pl.Series(name, records[name], dtype=integers[INT[name]])
            columns.append(series.set(pl.Series(~records.present(name)), None))
        else:
            columns.append(pl.Series(name, records[name].tolist(), dtype=pl.String))
    frame = pl.DataFrame(columns)
    return pl.concat([frame, _chunk_lists(records)], how="horizontal") if keep_chunks else frame


def _chunk_lists(records: Records) -> pl.DataFrame:
    """`CHUNKS` as one list a row; null where a request had none."""
    import polars as pl

    row = pl.Series("row", records.chunk_rows()).set_sorted()
    chunks = pl.DataFrame([row, *(pl.Series(name, getattr(records, name)) for name in CHUNKS)])
    lists = chunks.group_by("row", maintain_order=True).agg(CHUNKS)
    every_row = pl.DataFrame({"row": np.arange(len(records), dtype=np.int64)})
    return every_row.join(lists, on="row", how="left").sort("row").drop("row")


def from_frame(frame: pl.DataFrame) -> Records:
    columns = {}
    for name in ORDER:
        if name in INT:
            columns[name] = _integers(frame, name)
        else:
            values = frame[name].to_list() if name in frame.columns else [None] * frame.height
            columns[name] = np.array(values, dtype=object)
    counts = frame["chunk_ns"].list.len().fill_null(0).to_numpy() if has_chunks(frame) else np.zeros(frame.height, np.int64)
    start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    chunk_ns, chunk_tokens = (_flat(frame, name) for name in CHUNKS)
    return Records(columns, start, chunk_ns, chunk_tokens)


def has_chunks(frame: pl.DataFrame) -> bool:
    return all(name in frame.columns for name in CHUNKS)


def _integers(frame: pl.DataFrame, name: str) -> NDArray[np.signedinteger]:
    import polars as pl

    if name not in frame.columns:
        return np.full(frame.height, null_of(name), INT[name])
    column = frame[name].cast(pl.Int64).fill_null(np.iinfo(np.int64).min).to_numpy()
    null = column == np.iinfo(np.int64).min
    return np.where(null, null_of(name), column).astype(INT[name])


def _flat(frame: pl.DataFrame, name: str) -> NDArray[np.int64]:
    import polars as pl

    if not has_chunks(frame):
        return np.empty(0, np.int64)
    return frame[name].explode().drop_nulls().cast(pl.Int64).to_numpy().copy()
