"""Records as Parquet: DESIGN's columns and types, null where there is nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sweep.curve.parquet import read_records, write_records
from sweep.errors import ArtifactError
from sweep.records import EMPTY, ORDER, from_rows, null_of

ROWS = (
    {
        "cell": 0,
        "request": 7,
        "sent_ns": 10**15,
        "first_ns": 10**15 + 5,
        "outcome": "ok",
        "status": 200,
        "phase": "measured",
        "chunk_ns": [1, 2, 3],
        "chunk_tokens": [1, 1, 2],
    },
    {"cell": 0, "request": 8, "outcome": "connect", "error": "refused <b>"},
    {"cell": 0, "request": 9, "outcome": "ok", "status": 200, "chunk_ns": [9], "chunk_tokens": [4]},
)


def same(left, right) -> bool:
    return all(np.array_equal(left[name], right[name]) and left[name].dtype == right[name].dtype for name in ORDER)


@pytest.mark.parametrize("rows", [ROWS, ()])
def test_columns_come_back_as_they_were(tmp_path: Path, rows) -> None:
    path = tmp_path / "x.parquet"
    records = from_rows(rows)
    write_records(path, records)
    assert same(read_records(path), records)
    assert len(read_records(path).chunk_ns) == 0


def test_chunks_come_back_when_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    records = from_rows(ROWS)
    write_records(path, records, keep_chunks=True)
    back = read_records(path)
    assert back.chunk_start.tolist() == [0, 3, 3, 4]
    assert back.chunk_ns.tolist() == [1, 2, 3, 9]
    assert back.chunk_tokens.tolist() == [1, 1, 2, 4]


def test_kept_chunks_of_no_requests_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_records(path, EMPTY, keep_chunks=True)
    assert same(read_records(path), EMPTY)
    write_records(path, from_rows(ROWS[1:2]), keep_chunks=True)
    assert read_records(path).chunk_start.tolist() == [0, 0]


def test_the_file_has_null_and_the_declared_types(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_records(path, from_rows(ROWS))
    frame = pl.read_parquet(path)
    assert tuple(frame.columns) == ORDER
    assert frame["sent_ns"].to_list() == [10**15, None, None]
    assert frame["status"].to_list() == [200, None, 200]
    assert frame["error"].to_list() == [None, "refused <b>", None]
    types = {name: frame.schema[name] for name in ("request", "sent_ns", "status", "phase")}
    assert types == {"request": pl.Int32(), "sent_ns": pl.Int64(), "status": pl.Int16(), "phase": pl.String()}


def test_a_file_of_another_version_is_read_by_the_columns_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"request": [1, 2], "weather": ["fine", "wet"]}).write_parquet(path)
    records = read_records(path)
    assert records["request"].tolist() == [1, 2]
    assert records["sent_ns"].tolist() == [null_of("sent_ns")] * 2
    assert records["outcome"].tolist() == [None, None]


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write_records(path, EMPTY)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ArtifactError) as caught:
        read_records(path)
    assert "\n" not in caught.value.message
