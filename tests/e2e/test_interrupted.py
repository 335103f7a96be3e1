"""Nothing measured is lost: Ctrl-C and kill -9 at any moment, then resume."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sweep
from sweep.curve import journal

GRID = (1.0, 2.0, 4.0)
PLAN = ["--endpoint", "sim", "--profile", "demo", "--grid", "1,2,4", "--duration", "1s", "--yes", "--name", "run", "--out"]
Begin = Callable[..., "subprocess.Popen[str]"]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]


def cells_on_disk(folder: Path) -> int:
    return len(list((folder / "journal").glob("cell-*.json"))) if folder.exists() else 0


def finished(folder: Path) -> list[float]:
    return [point.load.level for point in journal.reopen(folder).points]


@pytest.mark.parametrize("after_s", [0.1, 1.0, 2.2, 3.5, 5.0])
def test_ctrl_c_keeps_what_was_measured(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, after_s: float) -> None:
    process = begin_sweep(*PLAN, tmp_path)
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, told = process.communicate(timeout=20)
    took_s = time.monotonic() - asked
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert took_s < 3.0  # two seconds on a machine that has nothing else to do
    folder = tmp_path / "run"
    if not folder.exists():
        return  # interrupted before there was anything to keep
    curve = sweep.load(folder / "run.curve.json").curve
    assert not curve.complete
    assert len(curve.points) == cells_on_disk(folder)
    sweep_command("resume", folder)
    resumed = sweep.load(folder / "run.curve.json").curve
    assert resumed.complete
    assert [point.load.level for point in resumed.points] == list(GRID)
    assert resumed.points[: len(curve.points)] == curve.points


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_loses_at_most_the_running_cell(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, seed: int) -> None:
    process = begin_sweep(*PLAN, tmp_path)
    folder = tmp_path / "run"
    time.sleep(1.0 + random.Random(seed).uniform(0, 5))
    seen = cells_on_disk(folder)
    process.kill()
    process.communicate(timeout=20)
    if not (folder / "journal" / "header.json").exists():
        return
    kept = finished(folder)
    assert len(kept) >= seen
    assert kept == list(GRID[: len(kept)])
    sweep_command("resume", folder)
    records = sweep.load(folder / "run.curve.json").curve
    assert records.complete
    assert [point.load.level for point in records.points] == list(GRID)
