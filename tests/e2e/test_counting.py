"""Token counts where they are hard to have: an endpoint that counts nothing, and prompts that must be exact."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from urllib.request import urlopen

import polars as pl
import pytest
from engines.llamacpp import Engine

import sweep
from sweep.model import Curve
from sweep.sim import server

Sweep = Callable[..., "CompletedProcess[str]"]
PRESET = "synthetic-8b-bf16"


def swept(command: Sweep, url: str, out: Path, *options: str) -> tuple[Curve, pl.DataFrame]:
    """The curve and the records of answers that are ok."""
    command("--endpoint", url, "--yes", "--no-canary", "--out", out, "--name", "it", *options, expect=None)
    curve = sweep.load(out / "it" / "it.curve.json").curve
    return curve, pl.read_parquet(out / "it" / "it.records.parquet").filter(pl.col("outcome") == "ok")


def codes(curve: Curve) -> set[str]:
    return {finding.code for point in curve.points for finding in point.findings}


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """Four tokens in a chunk, and neither usage nor ids say so; its tokenizer can be asked."""
    with server.start(PRESET, faults=("no_usage", "multi_token")) as served:
        yield served.url


def truth(url: str) -> dict[int, int]:
    """Answers' tokens by the number that the client gave its request, by the server's own log."""
    with urlopen(f"{url}/truth") as answer:
        rows = [json.loads(line) for line in answer.read().splitlines()]
    return {int(row["id"].partition("-")[0]): row["osl"] for row in rows if row["id"] and row["id"][0].isdigit()}


def test_answers_that_nobody_counts_are_counted_by_the_server_s_tokenizer(
    silent: str, sweep_command: Sweep, tmp_path: Path
) -> None:
    curve, ok = swept(sweep_command, silent, tmp_path, "--profile", "64/18", "--grid", "4", "--duration", "2s")
    (point,) = curve.points
    assert set(ok["token_source"]) == {"tokenize"}
    true = truth(silent)
    assert ok["osl"].to_list() == [true[request] for request in ok["request"]]
    whole = ok.filter(pl.col("osl_asked") == 18)
    assert set(whole["chunks"]) == {6}, "the first token comes alone"
    seconds = (whole["last_ns"] - whole["first_ns"]) / 17e9
    assert point.metrics["tpot_s"]["p50"].value == pytest.approx(seconds.median(), rel=0.1)
    assert point.osl.mean == 18
    assert curve.endpoint.calibration.source == "tokenizer"
    assert {"token-source", "usage-mismatch"} <= codes(curve), "chunks and tokens disagree, and both are told"


def test_prompts_of_token_ids_have_exactly_the_length_asked(sweep_command: Sweep, tmp_path: Path) -> None:
    options = ("--dialect", "completions", "--profile", "200/8", "--grid", "4", "--duration", "1s")
    with server.start(PRESET) as served:
        curve, ok = swept(sweep_command, served.url, tmp_path, *options)
    assert (ok["isl"] == ok["isl_asked"]).all()
    assert curve.endpoint.calibration.source == "ids"
    assert curve.scenario["prompt_lengths"].value == "exact: token ids"
    assert "cached" not in codes(curve)
    assert len((tmp_path / "it" / "it.curve.json").read_bytes()) < 200_000, "the passage is not in the file"


def test_a_shared_beginning_is_found_in_the_cache_and_the_rest_is_not(sweep_command: Sweep, tmp_path: Path) -> None:
    profile = tmp_path / "shared.toml"
    profile.write_text(
        'title = "half of it shared"\nisl.mean = 512\nosl.mean = 8\ndialect = "completions"\nprefix_share = 0.5\n'
    )
    with server.start(PRESET, prefix_cache=True) as served:
        _, ok = swept(sweep_command, served.url, tmp_path, "--profile", str(profile), "--grid", "4", "--duration", "1s")
    later = ok.filter(pl.col("request") >= 8)
    assert (later["isl"] == later["isl_asked"]).all()
    assert set(later["cached_tokens"]) == {256}


def test_llama_takes_ids_and_counts_them_as_they_are(llama: Engine, sweep_command: Sweep, tmp_path: Path) -> None:
    options = ("--dialect", "completions", "--profile", "96/8", "--grid", "2", "--duration", "4s")
    curve, ok = swept(sweep_command, llama.url, tmp_path, *options)
    assert len(ok) > 3
    assert (ok["isl"] == ok["isl_asked"]).all()
    assert set(ok["token_source"]) == {"usage"}
    assert curve.endpoint.calibration.source == "ids"
