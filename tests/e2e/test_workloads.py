"""Work that is no text token, end to end on the simulated endpoint: the same cells, files and pictures in another unit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import Sweep

import sweep

WORKLOADS = {
    "embeddings": ('dialect = "embeddings"\nisl.mean = 256\nosl.mean = 4', "vectors"),
    "rerank": ('dialect = "rerank"\nisl.mean = 512\nosl.mean = 8', "documents"),
    "transcription": ('dialect = "transcription"\ntext = "speech"\nisl.mean = 0\nosl.mean = 6', "audio seconds"),
    "sglang": ('dialect = "sglang"\nisl.mean = 64\nosl.mean = 8', "tokens"),
    "tgi": ('dialect = "tgi"\nisl.mean = 64\nosl.mean = 8', "tokens"),
    "vision": ("images = { width = 224, height = 224, count = 2 }\nisl.mean = 512\nosl.mean = 8", "tokens"),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_sweep_of_other_work(name: str, sweep_command: Sweep, tmp_path: Path) -> None:
    lines, unit = WORKLOADS[name]
    profile = tmp_path / "work.toml"
    profile.write_text(f'title = "{name}"\nstart = "cold"\n{lines}\n')
    place = ("--grid", "2", "--duration", "1s", "--yes", "--out", tmp_path, "--name", "run")
    ended = sweep_command("--endpoint", "sim", "--profile", profile, *place, expect=None)
    assert ended.returncode in (0, 4)  # a busy machine may disqualify what is this short
    curve = sweep.load(tmp_path / "run" / "run.curve.json").curve
    records = pl.read_parquet(tmp_path / "run" / "run.records.parquet")
    ok = records.filter(pl.col("outcome") == "ok")
    assert set(records["outcome"]) <= {"ok", "cut"}
    assert curve.endpoint.unit == unit
    assert (ok["osl"] == curve.profile.osl.mean).all()
    assert set(ok["token_source"]) == {"usage"}
    if curve.profile.isl.mean:
        assert ((ok["isl"] - curve.profile.isl.mean).abs() <= 0.05 * curve.profile.isl.mean).all()
    for point in curve.points:
        rate, requests = point.rates["output_tok_per_s"].value, point.rates["req_per_s"].value
        assert rate
        assert requests
        assert (point.metrics["tpot_s"]["p50"].value is None) == (name in ("embeddings", "rerank", "transcription"))
    page = (tmp_path / "run" / "run.html").read_text()
    assert f"output {curve.endpoint.rate_unit}" in page


def test_what_a_dialect_does_not_take_is_said(sweep_command: Sweep) -> None:
    plan = ("--endpoint", "sim", "--yes")
    ended = sweep_command(*plan, "--profile", "transcription", "--dialect", "chat", expect=2)
    assert ended.stderr.startswith("error: profile transcription sends audio, dialect chat takes text and images\n")
    ended = sweep_command(*plan, "--profile", "vision", "--dialect", "messages", expect=2)
    assert ended.stderr.startswith("error: profile vision sends images, dialect messages takes text\n")
