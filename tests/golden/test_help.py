"""docs/cli.md is the golden file of every command's help: written by `make docs`, equal to what the commands say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sweep.cli import main, reference

ROOT = Path(__file__).parents[2]
NAMES = [name for name, _, _ in main.commands()]


def output(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main.run(list(args)) == 0
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_the_reference_says_what_the_commands_say() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == reference.text(), "run `make docs` and read the difference"


@pytest.mark.parametrize("name", ["", *NAMES])
def test_help_fits_a_screen(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, *([name] if name else []), "--help").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, name, "--help-all")
    options = [line for line in text.splitlines() if line.startswith("  --")]
    bare = [line for line in options if re.fullmatch(r"  --\S+( \S+)?", line)]
    assert [line for line in bare if f"{line}\n      " not in text] == []


def test_an_option_has_the_same_words_in_every_command() -> None:
    """Save for --out, which is a folder here and a file there."""
    group: Any = get_command(main.application())
    said: dict[str, set[str]] = {}
    for command in group.commands.values():
        for param in command.params:
            if param.param_type_name == "option":
                said.setdefault(param.opts[0], set()).add(f"{param.metavar}: {param.help}")
    assert {name: words for name, words in said.items() if len(words) > 1 and name != "--out"} == {}


def test_rare_options_are_kept_for_help_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--keep-chunks" not in output(capsys, "run", "--help")
    assert "--keep-chunks" in output(capsys, "run", "--help-all")


def test_without_a_command_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys) == output(capsys, "--help")


def test_the_readme_names_every_command_and_points_to_the_reference() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [name for name in NAMES if f"sweep {name}" not in readme] == []
    assert "docs/cli.md" in readme


def test_the_readme_names_no_option_that_does_not_exist() -> None:
    known = set(re.findall(r"--[a-z][a-z-]+", reference.text()))
    written = set(re.findall(r"(?<![-\w])--[a-z][a-z-]+", (ROOT / "README.md").read_text()))
    assert written - known - {"--editable", "--realtime"} == set()  # of pip and of bench


def test_what_the_readme_shows_is_what_the_example_says(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = readme.partition("```text\n")[2].partition("```")[0]
    said = {
        " ".join(line.split()) for line in output(capsys, "show", str(ROOT / "reports/examples/demo.curve.json")).splitlines()
    }
    assert [line for line in shown.splitlines() if " ".join(line.split()) not in said] == []
