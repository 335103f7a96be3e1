"""What a user can cause is one line, a hint and the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
import sample_curves

from sweep.cli import main
from sweep.curve import artifact


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return artifact.save(sample_curves.curve(), tmp_path)


@pytest.mark.parametrize(
    ("args", "code", "message", "hint"),
    [
        (["--profile", "1k-1k"], 2, "which endpoint?", "--endpoint sim"),
        (["shwo", "x"], 2, "no such command 'shwo'", "sweep --help"),
        (["run", "--grd", "1"], 2, "no such option: --grd", "sweep run --help"),
        (["run", "extra"], 2, "extra", "sweep run --help"),
        (["--endpoint", "sim", "--seed", "x"], 2, "--seed: expected a whole number from 0, got 'x'", "--help"),
        (["--endpoint", "sim", "--duration", "30"], 2, "--duration", "30s"),
        (["--endpoint", "sim", "--arrivals", "gamma", "--rate", "1"], 2, "--arrivals: expected poisson or constant", "--help"),
        (["show"], 2, "missing argument", "sweep show --help"),
        (["show", "absent.curve.json"], 4, "absent.curve.json: No such file", ".curve.json"),
    ],
)
def test_errors(args: list[str], code: int, message: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(args) == code
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert out == ""
    assert first.startswith("error: ")
    assert message in first
    assert second.startswith("hint: ")
    assert hint in second


def test_a_changed_file_is_refused(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved.write_text(saved.read_text().replace("synthetic-70b-fp8", "synthetic-70b-fp9"))
    assert main.run(["show", str(saved)]) == 4
    assert "digest" in capsys.readouterr().err


def test_show_prints_the_table_and_what_was_found(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["show", str(saved)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "Meets mlperf-llama2-70b-interactive up to concurrency 16" in out


def test_show_reads_standard_input_and_gives_back_the_document(
    saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(saved.read_bytes())))
    assert main.run(["show", "-", "--json"]) == 0
    assert capsys.readouterr().out == saved.read_text()


def test_interrupted_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(artifact, "load", stop)
    assert main.run(["show", "x.curve.json"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_errors_carry_no_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["show", "\x1b[31mred.curve.json"]) == 4
    assert "\x1b" not in capsys.readouterr().err


DEMO = str(Path(__file__).parents[3] / "reports" / "examples" / "demo.curve.json")
EVERY = ["show", "show --json", "check", "pick --slo ttft<=60s", "compare FILE --force", "describe", "regress --no-page"]


Ended = tuple[int, str]  # exit code and standard error
Calling = Callable[[list[str], int], Ended]


def as_a_process(args: list[str], stdout: int) -> Ended:
    ended = subprocess.run([sys.executable, "-m", "sweep", *args], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60)
    return ended.returncode, ended.stderr


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Calling:
    """As a process, without starting one."""

    def call(args: list[str], stdout: int) -> Ended:
        with open(os.dup(stdout), "w", encoding="utf-8") as stream, monkeypatch.context() as patched:  # noqa: PTH123
            patched.setattr(sys, "stdout", stream)
            code = main.run(args)
        return code, capsys.readouterr().err

    return call


@pytest.fixture
def nobody_reads() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("args", [*map(str.split, EVERY), ["--version"], ["--help"], ["profiles"], ["version"]])
def test_a_reader_that_leaves_has_what_it_wanted(args: list[str], nobody_reads: int, called: Calling) -> None:
    file = [] if args[0] in ("--version", "--help", "profiles", "version") else [DEMO]
    assert called([DEMO if each == "FILE" else each for each in args] + file, nobody_reads) == (0, "")


@pytest.mark.parametrize("args", [["show"], ["show", "--json"], ["check", "--json"], ["--version"]])
def test_output_on_a_full_disk_is_one_line(args: list[str], called: Calling) -> None:
    with Path("/dev/full").open("w") as full:
        require_one_line(called([*args, DEMO] if args != ["--version"] else args, full.fileno()))


def test_nothing_is_left_to_say_when_the_process_ends(nobody_reads: int) -> None:
    assert as_a_process(["show", DEMO], nobody_reads) == (0, "")
    with Path("/dev/full").open("w") as full:
        require_one_line(as_a_process(["show", "--json", DEMO], full.fileno()))


def require_one_line(ended: Ended) -> None:
    code, told = ended
    assert code == 2
    assert told.splitlines()[0].startswith("error: standard output: ")
    assert told.splitlines()[1].startswith("hint: ")
    assert len(told.splitlines()) == 2


def test_a_sweep_goes_on_when_nobody_watches_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    load = ["--endpoint", "sim", "--virtual", "--profile", "64/16", "--grid", "1,2", "--requests", "20"]
    command = [*load, "--out", str(tmp_path), "--name", "alone"]
    ended = subprocess.run([sys.executable, "-m", "sweep", *command], stdout=writing, stderr=writing, timeout=100)
    os.close(writing)
    assert ended.returncode == 0
    assert len(artifact.load(tmp_path / "alone" / "alone.curve.json").points) == 2


def test_version_and_profiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("sweep ")
    assert main.run(["profiles"]) == 0
    assert "1k-8k" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    heavy = ["numpy", "scipy", "polars", "matplotlib", "aiohttp", "asyncio", "rich", "jinja2"]
    code = f"import sys; from sweep.cli.main import run; run(['--help']); print([m for m in {heavy} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "offered"), [("sweep re", "resume"), ("sweep run --gr", "--grid"), ("sweep --endp", "--endpoint")]
)
def test_the_shell_completes(
    line: str, offered: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_SWEEP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        main.run([])
    assert ended.value.code == 0
    assert offered in capsys.readouterr().out.split()
