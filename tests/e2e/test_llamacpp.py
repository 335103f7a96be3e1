"""A whole sweep of a real llama.cpp server: what it must show, checked against the server's own counters."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from engines.llamacpp import Engine

import sweep
from sweep.model import Curve

ISL, OSL = 96, 32
LEVELS = [1.0, 2.0, 4.0]


@pytest.fixture(scope="module")
def swept(llama: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Curve, pl.DataFrame, dict[str, float]]:
    """The curve, its records, and what the server counted for the sweep alone (preflight subtracted)."""
    import subprocess

    from conftest import CLEAN, COMMAND  # the fixtures are per test; the sweep is made once

    out = tmp_path_factory.mktemp("llama")
    plan = [
        "--endpoint",
        llama.url,
        "--profile",
        f"{ISL}/{OSL}",
        "--grid",
        "1,2,4",
        "--duration",
        "8s",
        "--yes",
        "--no-canary",
        "--out",
        str(out),
    ]
    names = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")

    def counted(*more: str) -> dict[str, float]:
        before = {name: llama.counter(f"llamacpp:{name}") for name in names}
        ended = subprocess.run([*COMMAND, *plan, *more], env=CLEAN, stdin=subprocess.DEVNULL, timeout=200)
        assert ended.returncode in (0, 4)  # a busy machine may spoil the points, not what is counted here
        return {name: llama.counter(f"llamacpp:{name}") - before[name] for name in names}

    preflight = counted("--dry-run")
    whole = counted("--name", "llama")
    folder = out / "llama"
    curve = sweep.load(folder / "llama.curve.json").curve
    records = pl.read_parquet(folder / "llama.records.parquet")
    return curve, records, {name: whole[name] - preflight[name] for name in names}


def test_every_request_is_accounted_for(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    curve, records, _ = swept
    assert [point.load.level for point in curve.points] == LEVELS
    for point in curve.points:
        of_cell = records.filter(pl.col("cell") == point.cell)
        measured = of_cell.filter(pl.col("phase") == "measured")
        assert sum(point.outcomes_all.values()) == len(of_cell)
        assert sum(point.outcomes.values()) == point.cohort == len(measured) > 0
        assert point.outcomes == {"ok": point.cohort}
    assert records["request"].is_unique().all()
    assert set(records["outcome"]) <= {"ok", "cut"}


def test_events_are_in_order(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    _, records, _ = swept
    ok = records.filter(pl.col("outcome") == "ok")
    for earlier, later in [("planned_ns", "sent_ns"), ("sent_ns", "first_ns"), ("first_ns", "last_ns"), ("last_ns", "end_ns")]:
        assert (ok[earlier] <= ok[later]).all()


def test_lengths_are_as_asked_by_the_server_s_own_usage(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    curve, records, _ = swept
    ok = records.filter(pl.col("outcome") == "ok")
    assert set(ok["token_source"]) == {"usage"}
    assert (ok["osl"] == ok["osl_asked"]).all()  # the first of each slot begin in mid-flight: shorter answers, longer prompts
    assert ((ok["isl"] - ok["isl_asked"]).abs() <= 0.05 * ok["isl_asked"]).all()
    for point in curve.points:
        assert point.osl.mean == OSL
        assert point.isl.mean == pytest.approx(ISL, rel=0.05)


def test_tokens_agree_with_the_server_s_counters(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    """The server counts what it computed for the requests that were cut at a cell's end too: at most one answer each."""
    _, records, counters = swept
    ok = records.filter(pl.col("outcome") == "ok")
    cut = len(records) - len(ok)
    assert cut <= sum(LEVELS)
    prompts = counters["prompt_tokens_total"] + counters["prompt_tokens_cached_total"]
    assert ok["isl"].sum() <= prompts <= ok["isl"].sum() + cut * 1.05 * (ISL + OSL)
    assert ok["osl"].sum() <= counters["tokens_predicted_total"] <= ok["osl"].sum() + cut * OSL


def test_more_load_only_queues_here(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    curve, _, _ = swept
    ttft = [point.metrics["ttft_s"]["p50"].value for point in curve.points]
    assert None not in ttft
    assert ttft[-1] > ttft[0]


def test_its_keep_alive_quirk_is_recorded(swept: tuple[Curve, pl.DataFrame, dict[str, float]]) -> None:
    """It promises keep-alive and closes after each stream: no request may be lost to that."""
    curve, records, _ = swept
    assert curve.endpoint.keep_alive is False
    assert {finding.code for point in curve.points for finding in point.findings} >= {"keep-alive-off"}
    assert (records["retries"] == 0).all()


def test_no_secret_and_no_prompt_is_written(swept: tuple[Curve, pl.DataFrame, dict[str, float]], tmp_path: Path) -> None:
    curve, _, _ = swept
    assert curve.endpoint.model == "smollm2"
