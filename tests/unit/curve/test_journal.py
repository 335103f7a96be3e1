"""Nothing measured is lost: what a journal holds after every way to be interrupted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from curve_builder import ENDPOINT, PROFILE, plan, point

from sweep.curve import journal
from sweep.errors import ArtifactError, OutputError
from sweep.model import Cell, Limits, Load, Tool
from sweep.records import Records, from_rows

HEADER = journal.Header(
    name="m-1k-8k",
    created_at="2026-01-01T00:00:00Z",
    run_id="r1",
    tool=Tool(name="sweep", version="0.1.0", python="3.11"),
    plan=plan(),
    endpoint=ENDPOINT,
    settings=journal.RunSettings(workers=2),
)


def cell(index: int) -> Cell:
    return Cell(index=index, profile=PROFILE, load=Load(kind="closed", level=2**index), limits=Limits(), start="cold", seed=1)


def records(index: int) -> Records:
    return from_rows({"cell": index, "request": 100 * index + row, "outcome": "ok"} for row in range(3))


def filled(folder: Path, cells: int = 3) -> journal.Journal:
    kept = journal.create(folder, HEADER)
    for index in range(cells):
        kept = kept.append(cell(index), point(2**index, cell=index), records(index))
    return kept


def test_what_is_declared_afterwards_outlives_a_resumed_sweep(tmp_path: Path) -> None:
    kept = filled(tmp_path)
    journal.declare(tmp_path, HEADER.name, {"hardware": {"power_w": 700.0}})
    journal.declare(tmp_path, HEADER.name, {"hardware": {"host": "h"}, "software": {"precision": "fp8"}})
    journal.declare(tmp_path, "another", {"hardware": {"host": "x"}})
    journal.declare(tmp_path / "elsewhere", HEADER.name, {"hardware": {"host": "x"}})
    back = journal.reopen(tmp_path)
    assert back.header.declared == {"hardware": {"power_w": 700.0, "host": "h"}, "software": {"precision": "fp8"}}
    assert back.finished == kept.finished


def test_a_reopened_journal_is_the_journal(tmp_path: Path) -> None:
    kept, back = filled(tmp_path), journal.reopen(tmp_path)
    assert back == kept
    assert back.header == HEADER
    assert [one.id for one in back.points] == ["c1.0", "c2.0", "c4.0"]
    assert back.records()["request"].tolist() == [0, 1, 2, 100, 101, 102, 200, 201, 202]
    assert back.next_index() == 3


def test_an_empty_journal_begins_at_nothing(tmp_path: Path) -> None:
    journal.create(tmp_path, HEADER)
    back = journal.reopen(tmp_path)
    assert (back.finished, back.next_index(), len(back.records())) == ((), 0, 0)
    assert journal.next_request(back.records(), after_a_loss=False) == 0


def test_request_numbers_go_on_and_skip_what_a_lost_cell_may_have_sent(tmp_path: Path) -> None:
    kept = filled(tmp_path).records()
    assert journal.next_request(kept, after_a_loss=False) == 203
    assert journal.next_request(kept, after_a_loss=True) >= 203 + 100_000


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("left", [0, 1, 100])
def test_a_half_written_last_cell_is_not_measured_and_is_named(tmp_path: Path, suffix: str, left: int) -> None:
    filled(tmp_path)
    last = tmp_path / "journal" / f"cell-00002{suffix}"
    last.write_bytes(last.read_bytes()[:left])
    back = journal.reopen(tmp_path)
    assert [one.id for one in back.points] == ["c1.0", "c2.0"]
    assert back.damaged == ("cell-00002.json",)


def test_a_crash_between_the_two_files_leaves_the_cell_unmeasured(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "journal" / "cell-00002.json").unlink()
    back = journal.reopen(tmp_path)
    assert len(back.finished) == 2
    assert back.damaged == ()
    again = back.append(cell(2), point(4, cell=2), records(2))
    assert journal.reopen(tmp_path) == again


def test_a_temporary_file_left_by_a_crash_is_ignored(tmp_path: Path) -> None:
    kept = filled(tmp_path)
    (tmp_path / "journal" / ".cell-00003.json.99.tmp").write_bytes(b"{")
    assert journal.reopen(tmp_path) == kept


def test_a_second_sweep_does_not_write_over_the_first(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(OutputError, match="already holds a sweep") as caught:
        journal.create(tmp_path, HEADER)
    assert "resume" in str(caught.value.hint)


def test_one_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no journal"), journal.alone(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
    kept = filled(tmp_path)
    with journal.alone(tmp_path):
        with pytest.raises(OutputError, match=f"process {os.getpid()} is measuring into it") as caught, journal.alone(tmp_path):
            pass
        assert caught.value.hint
        assert journal.reopen(tmp_path) == kept
    with journal.alone(tmp_path):
        pass


@pytest.mark.parametrize("header", [None, b"", b"{}", b'{"schema": 3}'])
def test_no_journal_or_a_broken_header_is_one_line(tmp_path: Path, header: bytes | None) -> None:
    (tmp_path / "journal").mkdir()
    if header is not None:
        (tmp_path / "journal" / "header.json").write_bytes(header)
    with pytest.raises(ArtifactError) as caught:
        journal.reopen(tmp_path)
    assert caught.value.hint
