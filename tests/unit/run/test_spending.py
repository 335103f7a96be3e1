"""A limit on tokens is kept: what a cell is bound to spend is foreseen before it is spent."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest
from curve_builder import plan

from sweep.cli import main
from sweep.curve import artifact, refine
from sweep.model import Length
from sweep.records import EMPTY, from_rows
from sweep.run.spending import Purse, bound_to_come, least_tokens, tokens

OPEN = from_rows(
    [
        {"request": 0, "sent_ns": 1, "isl_asked": 100, "osl_asked": 50, "osl": 20},
        {"request": 1, "sent_ns": 2, "isl_asked": 100, "osl_asked": 50},
        {"request": 2, "isl_asked": 100, "osl_asked": 50},  # due, not sent yet
    ]
)


def test_what_is_in_flight_will_be_answered_and_replaced_once() -> None:
    assert tokens(OPEN) == 200 + 20
    assert bound_to_come(OPEN) == 130 + 300 + 150
    assert (tokens(EMPTY), bound_to_come(EMPTY)) == (0, 0)


def test_a_purse_is_empty_before_it_is_too_late() -> None:
    costs = tokens(OPEN) + bound_to_come(OPEN)
    assert not Purse(None).empty(OPEN, OPEN)
    assert not Purse(costs).empty(EMPTY, OPEN)
    assert Purse(costs - 1).empty(EMPTY, OPEN)
    purse = Purse(costs + 2 * tokens(OPEN) - 1)
    assert [purse.empty(EMPTY, OPEN), purse.empty(OPEN, OPEN)] == [False, True]  # as much again by the next time


def test_a_cell_that_cannot_be_afforded_is_not_begun() -> None:
    profile = msgspec.structs.replace(plan().profile, isl=Length(mean=100), osl=Length(mean=50))
    assert least_tokens(msgspec.structs.replace(plan(), profile=profile), 4.0) == 4 * 300
    assert least_tokens(msgspec.structs.replace(plan(), profile=profile, kind="poisson"), 4.0) == 0


def test_a_cell_ends_while_what_is_in_flight_can_still_end_in_time() -> None:
    ended = from_rows([{"request": each, "sent_ns": 0, "end_ns": 4_000_000_000, "outcome": "ok"} for each in range(3)])
    assert [Purse(None, 20.0).over(ended, elapsed_s) for elapsed_s in (15.0, 16.0)] == [False, True]
    assert [Purse(None, 20.0).over(EMPTY, elapsed_s) for elapsed_s in (19.0, 20.0)] == [False, True]
    assert not Purse(None).over(ended, 1e9)


def spent(folder: Path) -> int:
    records = pl.read_parquet(folder / "run.records.parquet").filter(pl.col("sent_ns").is_not_null())
    return int(records["isl_asked"].sum() + records["osl"].sum())


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("limit", [60_000, 150_000])
def test_a_limit_is_kept_and_a_higher_one_goes_on(tmp_path: Path, limit: int, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["--endpoint", "sim", "--virtual", "--profile", "256/256", "--grid", "4,16,32", "--max-tokens", str(limit)]
    main.run([*asked, "--yes", "--name", "run", "--out", str(tmp_path)])
    folder = tmp_path / "run"
    curve = artifact.load(folder / "run.curve.json")
    assert 0.5 * limit < spent(folder) <= limit
    assert not curve.complete
    (cap,) = (finding.data for finding in curve.findings if finding.code == "token-cap")
    assert cap == {"tokens": limit, "spent": spent(folder)}

    assert main.run(["resume", str(folder), "--max-tokens", "1k"]) == 2
    assert "tokens were spent already" in capfd.readouterr().err
    assert main.run(["resume", str(folder), "--max-tokens", "50M"]) == 0
    again = artifact.load(folder / "run.curve.json")
    assert again.complete
    assert [point.load.level for point in again.points] == [4.0, 16.0, 32.0]
    assert again.points[: len(curve.points)] == curve.points
    assert "token-cap" not in {finding.code for finding in again.findings}


def test_too_little_for_anything_is_said_before_anything_is_asked(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["--endpoint", "sim", "--virtual", "--profile", "256/256", "--max-tokens", "500", "--yes", "--out", str(tmp_path)]
    assert main.run(asked) == 2
    assert "--max-tokens 500 is too little for one cell of 256-256" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("undrawn")
def test_a_larger_budget_goes_on(tmp_path: Path) -> None:
    asked = ["--endpoint", "sim", "--virtual", "--profile", "256/256", "--max-concurrency", "4", "--budget", "60s"]
    main.run([*asked, "--yes", "--name", "run", "--out", str(tmp_path)])
    folder = tmp_path / "run"
    curve = artifact.load(folder / "run.curve.json")
    assert sum(point.busy_s or 0.0 for point in curve.points) <= 60
    (left,) = (finding.data["what"] for finding in curve.findings if finding.code == "budget")
    assert (curve.complete, left) == (False, "4, 1 again")
    assert main.run(["resume", str(folder), "--budget", "10m"]) == 0
    again = artifact.load(folder / "run.curve.json")
    assert again.complete
    assert len(again.points) > len(curve.points)
    assert again.points[: len(curve.points)] == curve.points
    assert again.plan.budget_s == 600.0
    assert sum(point.busy_s or 0.0 for point in again.points) < 700.0


@pytest.mark.usefixtures("undrawn")
def test_a_budget_ends_a_cell_that_takes_longer_than_foreseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine, "least_s", lambda *_: None)
    asked = ["--endpoint", "sim", "--virtual", "--profile", "256/256", "--grid", "1,2,4", "--budget", "40s"]
    main.run([*asked, "--yes", "--name", "run", "--out", str(tmp_path)])
    curve = artifact.load(tmp_path / "run" / "run.curve.json")
    whole, ended = curve.points
    assert ended.window is not None
    assert (ended.window.end_reason, ended.window.resolved) == ("budget", False)
    assert ended.window.seconds < 20 < whole.window.seconds
    assert 39 <= sum(point.busy_s for point in curve.points) <= 42
    assert "unresolved" in {finding.code for finding in ended.findings}
    assert not curve.complete
    assert main.run(["check", str(tmp_path / "run")]) == 0


def test_a_budget_too_small_for_any_cell_is_said_before_anything_is_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["--endpoint", "sim", "--virtual", "--profile", "256/256", "--budget", "5s", "--yes", "--out", str(tmp_path)]
    assert main.run(asked) == 2
    assert "--budget 5s is too little for one cell of 256-256" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
