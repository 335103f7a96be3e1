"""A user's own file under load: every prompt is cut from it, every request has the lengths of one of its rows."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from servers import running

from sweep.cli import main
from sweep.curve import artifact, journal

ROWS = [(40, 3), (60, 9), (200, 30)]


def test_prompts_and_lengths_of_a_file(tmp_path: Path, capfd) -> None:
    file = tmp_path / "mine.jsonl"
    lines = [{"prompt": f"alpha{n} " * 50, "isl": isl, "osl": osl} for n, (isl, osl) in enumerate(ROWS)]
    file.write_text("\n".join(map(json.dumps, lines)))
    plan = ["--dataset", str(file), "--grid", "2", "--duration", "1s", "--cold-start", "--workers", "2", "--no-canary"]
    with running() as site:
        asked = ["--endpoint", f"http://127.0.0.1:{site.port}", *plan, "--yes", "--name", "run", "--out", str(tmp_path)]
        assert main.run(asked) in (0, 4)
        sent = [json.loads(each.body)["messages"][-1]["content"] for each in site.asked if not each.preflight]
        folder = tmp_path / "run"
        curve = artifact.load(folder / "run.curve.json")
        records = pl.read_parquet(folder / "run.records.parquet").filter(pl.col("sent_ns").is_not_null())
        assert set(records.select("isl_asked", "osl_asked").iter_rows()) == set(ROWS)
        assert {word.rstrip("012") for prompt in sent for word in prompt.split()[1:]} == {"alpha"}
        assert curve.profile.text.startswith("dataset:mine:")
        assert curve.profile.title == "lengths as in mine.jsonl"

        kept = journal.reopen(folder)
        (kept.folder / "cell-00000.json").unlink()  # as if it had been interrupted
        file.write_text("\n".join(map(json.dumps, lines[1:])))
        assert main.run(["resume", str(folder)]) == 2
        assert "not the file that the sweep began with" in capfd.readouterr().err
        file.write_text("\n".join(map(json.dumps, lines)))
        assert main.run(["resume", str(folder)]) in (0, 4)
    assert artifact.load(folder / "run.curve.json").complete


def test_lengths_alone_are_part_of_the_plan(tmp_path: Path, capfd) -> None:
    """Resumed without the file that told them."""
    file = tmp_path / "trace.csv"
    file.write_text("isl,osl\n" + "".join(f"{isl},{osl}\n" for isl, osl in ROWS))
    asked = ["--endpoint", "sim", "--virtual", "--dataset", str(file), "--grid", "2", "--requests", "300"]
    assert main.run([*asked, "--effort", "quick", "--yes", "--name", "run", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "run"
    records = pl.read_parquet(folder / "run.records.parquet")
    full = records.filter(pl.col("request") >= 2)  # the first of each slot begins in mid-flight
    assert set(full.select("isl_asked", "osl_asked").iter_rows()) == set(ROWS)
    (folder / "journal" / "cell-00000.json").unlink()
    file.unlink()
    assert main.run(["resume", str(folder)]) == 0
