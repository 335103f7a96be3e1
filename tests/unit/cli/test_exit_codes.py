"""What a script can rely on: the exit code of every command, and one document, or nothing, on standard output with --json."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from sweep.cli import main

EXAMPLES = Path(__file__).parents[3] / "reports" / "examples"
DEMO = str(EXAMPLES / "demo.curve.json")
OPEN = str(EXAMPLES / "open.curve.json")
EASY, HARD = "ttft_p90<=60s", "tpot<=1us"
VIRTUAL = ["--endpoint", "sim", "--virtual", "--profile", "64/16", "--grid", "1,2", "--requests", "20"]


@pytest.fixture
def nobody() -> str:
    """An address where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def changed(tmp_path: Path) -> str:
    path = tmp_path / "changed.curve.json"
    path.write_text(Path(DEMO).read_text().replace('"seed": 0', '"seed": 1', 1))
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["version"], 0),
        (["profiles"], 0),
        (["show", DEMO], 0),
        (["show", "absent"], 4),
        (["show"], 2),
        (["check", DEMO], 0),
        (["check", "CHANGED"], 4),
        (["pick", DEMO, "--slo", EASY], 0),
        (["pick", DEMO, "--slo", HARD], 1),
        (["pick", DEMO, "--slo", EASY, "--slo", HARD], 1),
        (["pick", DEMO, "--slo", "nonsense"], 2),
        (["compare", DEMO, DEMO, "--slo", EASY], 0),
        (["compare", DEMO, DEMO, "--slo", HARD], 1),
        (["compare", DEMO, OPEN], 4),
        (["compare", DEMO, "CHANGED"], 4),
        (["merge", DEMO, OPEN, "--out", "both.curve.json"], 4),
        (["describe", DEMO], 0),
        (["describe", "CHANGED"], 4),
        (["regress", DEMO, "--no-page"], 0),
        (["regress", "absent"], 2),
        (["resume", "absent"], 4),
        (["probe", "NOBODY"], 3),
        (["run", "--endpoint", "NOBODY"], 3),
        (["run", *VIRTUAL, "--dry-run"], 0),
        (["sim", "--port", "99999"], 2),
    ],
    ids=lambda value: " ".join(value).replace(f"{EXAMPLES}/", "") if isinstance(value, list) else None,
)
def test_exit_codes(
    arguments: list[str], code: int, nobody: str, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"NOBODY": nobody, "CHANGED": changed}
    assert main.run([given.get(each, each) for each in arguments]) == code


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ([], 0),
        (["--slo", EASY, "--require-slo"], 0),
        (["--slo", HARD], 0),
        (["--slo", EASY, "--slo", HARD, "--require-slo"], 1),
        (["--gate", "nightly"], 0),
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_a_run_is_one_document_and_its_code_is_what_was_demanded(
    more: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.run(["run", *VIRTUAL, "--json", *more]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["schema"] == "sweep.curve/1"
    assert ("learning" in err) is ("--gate" in more), "words go where the document does not"


@pytest.mark.usefixtures("undrawn")
def test_a_night_that_measured_nothing_is_in_the_history_and_in_what_a_script_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nothing = ["--endpoint", "sim", "--virtual", "--profile", "64/800", "--rate", "200", "--duration", "2s", "--cap", "3s"]
    assert main.run(["run", *nothing, "--gate", "nightly", "--junit", "j.xml", "--summary", "s.md"]) == 3
    assert len([*Path("nightly").glob("*.curve.json")]) == 1
    assert 'message="unjudged' in Path("j.xml").read_text()
    assert "cannot be judged" in Path("s.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", DEMO], 0),
        (["check", DEMO], 0),
        (["check", "CHANGED"], 4),
        (["pick", DEMO, "--slo", HARD], 1),
        (["compare", DEMO, DEMO, "--slo", HARD], 1),
        (["regress", DEMO, "--no-page"], 0),
        (["profiles"], 0),
        (["probe", "sim"], 0),
        (["run", *VIRTUAL, "--dry-run"], 0),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_json_is_one_document(arguments: list[str], code: int, changed: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.run([changed if each == "CHANGED" else each for each in arguments] + ["--json"]) == code
    assert json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("command", [["show", "absent"], ["pick", "absent"], ["compare", DEMO, OPEN], ["regress", "absent"]])
def test_after_an_error_there_is_no_document(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([*command, "--json"]) in (2, 4)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
