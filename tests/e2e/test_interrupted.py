"""Nothing measured is lost: Ctrl-C, SIGTERM, kill -9 and a full disk at any moment, then resume."""

from __future__ import annotations

import contextlib
import random
import resource
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import polars as pl
import pytest
from servers import CHAT, MODEL, Answer, Asked, running

from sweep.curve import artifact, journal
from sweep.dialect.sse import frame
from sweep.model import SimChunk
from sweep.plan.scenario import make_cell

GRID = (1.0, 2.0, 4.0)
PLAN = ["--profile", "demo", "--grid", "1,2,4", "--duration", "500ms", "--yes", "--name", "run"]
ENDS_S = 2.0
SILENT_S = 10.0
NOISE_S = 1.5  # for a machine with two cores and other things to do
Begin = Callable[..., "subprocess.Popen[str]"]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]


def until(process: subprocess.Popen[str], text: str) -> None:
    """Reads what the sweep says until a line begins like that."""
    assert process.stderr is not None
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if select.select([process.stderr], [], [], 0.5)[0]:
            line = process.stderr.readline()
            assert line, "it ended early"
            if line.startswith(text):
                return
    raise AssertionError(f"it never said {text!r}")


def cells_on_disk(folder: Path) -> int:
    return len(list((folder / "journal").glob("cell-*.json"))) if folder.exists() else 0


def require_whole(folder: Path) -> None:
    """What an interrupted and resumed sweep left is what an uninterrupted one would have: cells, levels, seeds; no request twice."""
    curve = artifact.load(folder / "run.curve.json")
    assert curve.complete
    assert "partial" not in {finding.code for finding in curve.findings}
    assert [point.load.level for point in curve.points] == list(GRID)
    kept = journal.reopen(folder)
    assert kept.damaged == ()
    assert curve.points == artifact.as_stored(kept.points)
    for place, (level, one) in enumerate(zip(GRID, kept.finished, strict=True)):
        planned = make_cell(
            kept.header.plan, kept.header.endpoint, index=place, level=level, repeat=0, first_request=one.cell.first_request
        )
        assert one.cell == planned
    records = pl.read_parquet(folder / "run.records.parquet")
    assert records["request"].is_unique().all()
    for point in curve.points:
        assert sum(point.outcomes_all.values()) == len(records.filter(pl.col("cell") == point.cell))
    assert {path.suffix for path in folder.iterdir() if path.is_file()} == {
        ".json",
        ".parquet",
        ".hlog",
        ".svg",
        ".png",
        ".html",
    }


MOMENTS = [  # the line that was said last, seconds since then
    pytest.param("profile", 0.0, signal.SIGINT, id="planning"),
    pytest.param("load", 0.15, signal.SIGINT, id="ramp"),
    pytest.param("c1", 0.4, signal.SIGINT, id="window"),
    pytest.param("c1", 0.6, signal.SIGTERM, id="tail"),
    pytest.param("c4", 0.0, signal.SIGINT, id="writing"),
    pytest.param("c4", 0.25, signal.SIGHUP, id="drawing"),
]


@pytest.mark.parametrize(("line", "after_s", "number"), MOMENTS)
def test_an_interruption_keeps_what_was_measured(
    begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, line: str, after_s: float, number: signal.Signals
) -> None:
    process = begin_sweep("--endpoint", "sim", *PLAN, "--out", tmp_path)
    until(process, line)
    time.sleep(after_s)
    if process.poll() == 0:  # this machine was quicker: nothing was left to interrupt
        require_whole(tmp_path / "run")
        return
    took_s, told = interrupted(process, number, finished=line == f"c{GRID[-1]:g}")
    assert took_s < ENDS_S + NOISE_S
    folder = tmp_path / "run"
    if process.returncode == 0:
        require_whole(folder)
        return
    if line == "profile" and not (folder / "run.curve.json").exists():  # before there was anything to keep
        assert told == "error: interrupted\n"
        assert cells_on_disk(folder) == 0
        return
    curve = artifact.load(folder / "run.curve.json")
    assert curve.points == artifact.as_stored(journal.reopen(folder).points)
    assert len(curve.points) == cells_on_disk(folder)
    assert curve.complete is (len(curve.points) == len(GRID))
    assert f"hint: sweep resume {folder} goes on" in told
    if not curve.complete:
        sweep_command("resume", folder, expect=None)
        require_whole(folder)
    assert artifact.load(folder / "run.curve.json").points[: len(curve.points)] == curve.points


def interrupted(process: subprocess.Popen[str], number: signal.Signals, finished: bool = False) -> tuple[float, str]:
    """Seconds until it ended, and what it said of it. `finished`: whether nothing may have been left to interrupt."""
    process.send_signal(number)
    asked = time.monotonic()
    _, told = process.communicate(timeout=20)
    took_s = time.monotonic() - asked
    assert process.returncode in ({0, 130} if finished else {130}), told
    assert "Traceback" not in told
    return took_s, told[told.find("error: ") :]


def test_an_interruption_of_preflight_leaves_nothing(begin_sweep: Begin, tmp_path: Path) -> None:
    def slow(asked: Asked) -> Answer | None:
        time.sleep(0 if asked.method == "GET" else 5)
        return None

    with running(slow) as site:
        process = begin_sweep("--endpoint", f"http://127.0.0.1:{site.port}", *PLAN, "--out", tmp_path)
        limit = time.monotonic() + 20
        while len(site.asked) < 2 and time.monotonic() < limit:
            time.sleep(0.01)
        took_s, told = interrupted(process, signal.SIGINT)
    assert told == "error: interrupted\n"
    assert took_s < ENDS_S + NOISE_S
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_of_counting_keeps_the_cell(
    begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, number: signal.Signals
) -> None:
    """An endpoint that counts nothing, and whose tokenizer falls silent after some of the cell's answers."""
    stream = b"".join(
        frame(*each) for each in [CHAT.chunk("r", MODEL, SimChunk(text=" tok"))] * 8 + CHAT.closing("r", MODEL, "length", None)
    )
    counted: list[int] = []
    over = threading.Event()

    def uncounted(asked: Asked) -> Answer | None:
        if asked.path == "/tokenize":
            loaded = sum(not each.preflight for each in site.asked if each.path == "/v1/chat/completions")
            counted.append(loaded)
            if counted.count(loaded) > 5 and loaded:
                over.wait(SILENT_S)
            return Answer(body=b'{"count":8}')
        return Answer(body=stream, kind="text/event-stream") if asked.method == "POST" else None

    with running(uncounted) as site:
        process = begin_sweep("--endpoint", f"http://127.0.0.1:{site.port}", *PLAN, "--no-canary", "--out", tmp_path)
        until(process, "load")
        limit = time.monotonic() + 20
        while (not counted or counted.count(counted[-1]) < 9) and time.monotonic() < limit:
            time.sleep(0.01)
        took_s, told = interrupted(process, number)
        over.set()
        assert took_s < SILENT_S
        folder = tmp_path / "run"
        assert told.splitlines() == ["error: interrupted after 1 cell", f"hint: sweep resume {folder} goes on"]
        (point,) = artifact.load(folder / "run.curve.json").points
        assert point.load.level == GRID[0]
        assert set(point.token_sources) == {"chunks", "tokenize"}
        sweep_command("resume", folder, expect=None)
        require_whole(folder)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kill_loses_at_most_the_running_cell(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, seed: int) -> None:
    process = begin_sweep("--endpoint", "sim", *PLAN, "--out", tmp_path)
    folder = tmp_path / "run"
    until(process, "load")
    time.sleep(random.Random(seed).uniform(0, 4))
    seen = cells_on_disk(folder)
    process.kill()
    process.communicate(timeout=20)
    kept = journal.reopen(folder).points
    assert len(kept) >= seen
    assert [point.load.level for point in kept] == list(GRID[: len(kept)])
    sweep_command("resume", folder, expect=None)
    require_whole(folder)


def test_only_one_measures_into_a_folder(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path) -> None:
    """While it runs, while it is resumed, and no longer once it is gone, however it went."""
    folder = tmp_path / "run"
    slowly = ("--endpoint", "sim", *PLAN, "--duration", "2s", "--out", tmp_path)  # neither ends while the other is refused
    for line, words in {"load": slowly, "c": ("resume", folder)}.items():
        process = begin_sweep(*words)
        until(process, line)
        before = cells_on_disk(folder)
        refused = sweep_command("resume", folder, expect=2)
        assert refused.stderr.splitlines() == [
            f"error: {folder}: process {process.pid} is measuring into it",
            "hint: let it end, or end it; what it measured is kept",
        ]
        process.kill()
        process.communicate(timeout=20)
        assert cells_on_disk(folder) >= before
    sweep_command("resume", folder, expect=None)
    require_whole(folder)


def test_resume_notices_another_server(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path) -> None:
    with running() as site:
        process = begin_sweep("--endpoint", f"http://127.0.0.1:{site.port}", *PLAN, "--out", tmp_path)
        until(process, "c1")
        interrupted(process, signal.SIGINT)
        site.models = ({"id": "toy", "max_model_len": 4096},)
        sweep_command("resume", tmp_path / "run", expect=None)
    curve = artifact.load(tmp_path / "run" / "run.curve.json")
    assert [finding.data for finding in curve.findings if finding.code == "system-changed"] == [
        {"what": "context tokens", "before": "unknown", "after": "4096"}
    ]


# --- the disk --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own, where this machine lets us mount one."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_with_no_room_is_found_before_the_run(sweep_command: Sweep, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        ended = sweep_command("--endpoint", "sim", *PLAN, "--out", disk / "reports", expect=2)
        assert "MB are free" in ended.stderr


def test_a_disk_that_fills_up_keeps_what_was_written(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 32) as disk:
        process = begin_sweep("--endpoint", "sim", *PLAN, "--out", disk)
        until(process, "c1")
        with contextlib.suppress(OSError), (disk / "neighbour").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        _, told = process.communicate(timeout=60)
        assert process.returncode == 2, told
        assert "No space left on device" in told
        assert f"free some space, then: sweep resume {disk / 'run'}" in told
        assert "Traceback" not in told
        kept = journal.reopen(disk / "run")
        assert kept.damaged == ()
        assert [point.load.level for point in kept.points][:1] == [1.0]
        (disk / "neighbour").unlink()
        sweep_command("resume", disk / "run", expect=None)
        require_whole(disk / "run")


@pytest.mark.parametrize("limit_bytes", [6_000, 60_000])
def test_a_file_that_cannot_be_written_costs_no_cell(
    begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path, limit_bytes: int
) -> None:
    """A cell's files, the curve's own and its pictures, one after the other too large for the limit on file sizes."""
    process = begin_sweep("--endpoint", "sim", *PLAN, "--out", tmp_path)
    until(process, "load")
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2, told
    assert "File too large" in told
    assert "Traceback" not in told
    before = journal.reopen(tmp_path / "run").points
    sweep_command("resume", tmp_path / "run", expect=None)
    require_whole(tmp_path / "run")
    assert msgspec.json.encode(journal.reopen(tmp_path / "run").points[: len(before)]) == msgspec.json.encode(before)
