"""However often Ctrl-C is pressed, the files that are begun are written."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from sweep.cli import main
from sweep.curve import artifact, hlog
from sweep.run.undisturbed import undisturbed


def test_an_interruption_waits_for_the_end() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_one_more_interruption_says_nothing_new() -> None:
    with undisturbed(asked_already=True):
        signal.raise_signal(signal.SIGINT)
    with undisturbed():
        pass


def test_interrupted_again_and_again_while_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    save = hlog.save

    def disturbed(*given: object) -> None:
        signal.raise_signal(signal.SIGINT)
        save(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(hlog, "save", disturbed)
    plan = ["--profile", "64/16", "--grid", "2", "--requests", "20"]
    assert main.run(["--endpoint", "sim", "--virtual", *plan, "--yes", "--name", "run", "--out", str(tmp_path)]) == 130
    folder = tmp_path / "run"
    told = capfd.readouterr().err.splitlines()[-2:]
    assert told == ["error: interrupted after 1 cell", f"hint: sweep resume {folder} goes on"]
    assert {path.name for path in folder.glob("run.*")} == {"run.curve.json", "run.hlog", "run.records.parquet"}
    assert artifact.load(folder / "run.curve.json").complete
