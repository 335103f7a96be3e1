"""Every server that can be installed, swept at three loads: `make e2e-all`. What cannot be had is skipped with the reason.

Times are compared with the server's own histograms of the same requests, so that the noise of the machine is in both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from checks import Swept, as_asked, conserved, in_order, sweep_of
from conftest import CLEAN, COMMAND
from engines import llamacpp, nginx, transformers_serve, vllm, whisper
from engines.engine import CannotRun, Engine

pytestmark = pytest.mark.skipif("SWEEP_E2E_ALL" not in os.environ, reason="installs gigabytes: make e2e-all")
LOADS = ("--grid", "1,2,4", "--duration", "8s")
TIMES = ("time_to_first_token_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds")
VLLM = (
    *("vllm:prompt_tokens_total", "vllm:generation_tokens_total", "vllm:request_success_total"),
    *(f"vllm:{name}_{part}" for name in TIMES for part in ("sum", "count")),
)


def started(running: AbstractContextManager[Engine]) -> Iterator[Engine]:
    """The engine, or a skip that says why not."""
    try:
        engine = running.__enter__()
    except CannotRun as reason:
        pytest.skip(str(reason))
    try:
        yield engine
    finally:
        running.__exit__(None, None, None)


def swept(engine: Engine, out: Path, *options: str, counters: tuple[str, ...] = ()) -> Swept:
    made = sweep_of(engine, out, COMMAND, CLEAN, *options, counters=counters)
    conserved(made)
    in_order(made)
    assert set(made.records["outcome"]) <= {"ok", "cut"}
    return made


@pytest.fixture(scope="module")
def generator() -> Iterator[Engine]:
    yield from started(vllm.running())


@pytest.mark.parametrize("dialect", ["chat", "completions", "messages", "responses"])
def test_vllm(generator: Engine, tmp_path: Path, dialect: str) -> None:
    isl, osl = 96, 32
    options = ("--profile", f"{isl}/{osl}", "--dialect", dialect, *LOADS)
    made = swept(generator, tmp_path, *options, counters=VLLM)
    assert set(made.ok["token_source"]) == {"usage"}
    as_asked(made)
    counted = {name.removeprefix("vllm:"): value for name, value in made.counted.items()}
    whole = made.records["osl"].fill_null(0).sum()
    assert whole <= counted["generation_tokens_total"] <= whole + made.cut * osl
    assert len(made.ok) == counted["request_success_total"]
    begun = made.records.drop_nulls("first_ns")
    assert len(begun) <= counted["time_to_first_token_seconds_count"] <= len(begun) + made.cut
    tpot_s = counted["request_time_per_output_token_seconds_sum"] / counted["request_time_per_output_token_seconds_count"]
    assert made.mean_tpot_s == pytest.approx(tpot_s, rel=0.05)
    e2e_s = counted["e2e_request_latency_seconds_sum"] / counted["e2e_request_latency_seconds_count"]
    assert made.mean_s("sent_ns", "last_ns") == pytest.approx(e2e_s, rel=0.05)
    # The server's TTFT begins when its core has the request: parsing and templating come on top, at both ends of a busy machine.
    ttft_s = counted["time_to_first_token_seconds_sum"] / counted["time_to_first_token_seconds_count"]
    assert ttft_s <= made.mean_s("sent_ns", "first_ns", begun) <= 1.05 * ttft_s + 0.03


@pytest.fixture(scope="module")
def pooling() -> Iterator[Engine]:
    yield from started(vllm.pooling())


@pytest.mark.parametrize(("dialect", "extra"), [("embeddings", 0), ("rerank", 1)])
def test_vllm_pooling(pooling: Engine, tmp_path: Path, dialect: str, extra: int) -> None:
    """A batch is as many requests inside; a reranker that compares embeddings makes one of the query as well."""
    profile = tmp_path / "batch.toml"
    profile.write_text(f'title = "batches"\ndialect = "{dialect}"\nstart = "cold"\nisl.mean = 512\nosl.mean = 8\n')
    made = swept(pooling, tmp_path, "--profile", str(profile), *LOADS, counters=VLLM[:3])
    assert made.curve.endpoint.unit == {"embeddings": "vectors", "rerank": "documents"}[dialect]
    as_asked(made)
    inside = made.counted["vllm:request_success_total"] / (8 + extra)
    assert len(made.ok) <= inside <= len(made.ok) + made.cut
    prompts, sent = made.counted["vllm:prompt_tokens_total"], made.ok["isl"].sum()
    assert 0.999 * sent <= prompts <= 1.001 * sent + made.cut * 1.05 * 512  # one preflight's prompts are not the other's


def test_transformers_serve(tmp_path: Path) -> None:
    """It begins with an empty delta, ends without [DONE], and cannot be made to answer at a length."""
    for engine in started(transformers_serve.running()):
        options = ("--model", str(transformers_serve.model()), "--profile", "64/24", *LOADS)
        made = swept(engine, tmp_path, *options)
        assert set(made.ok["token_source"]) == {"usage"}
        assert ((made.ok["isl"] - made.ok["isl_asked"]).abs() <= 0.05 * made.ok["isl_asked"]).all()
        assert made.curve.endpoint.osl_honoured is False
        assert (made.ok["osl"] <= made.ok["osl_asked"]).all()


def test_whisper(tmp_path: Path) -> None:
    """It works on one clip at a time: more load only queues."""
    profile = tmp_path / "clips.toml"
    profile.write_text(
        'title = "clips"\ndialect = "transcription"\ntext = "speech"\nstart = "cold"\nisl.mean = 0\nosl.mean = 5\n'
    )
    for engine in started(whisper.running()):
        made = swept(engine, tmp_path, "--model", "tiny", "--profile", str(profile), *LOADS)
        assert made.curve.endpoint.unit == "audio seconds"
        assert (made.ok["osl"] == 5).all()
        waits = [point.metrics["e2e_s"]["p50"].value or 0.0 for point in made.curve.points]
        assert waits == sorted(waits)


@pytest.fixture(scope="module")
def behind() -> Iterator[dict[str, str]]:
    """Gateways before llama.cpp."""
    try:
        with llamacpp.running() as engine, nginx.running(engine.url) as places:
            yield places
    except CannotRun as reason:
        pytest.skip(str(reason))


def through(url: str, out: Path, *options: str, profile: str = "64/16") -> Swept:
    made = sweep_of(Engine(url), out, COMMAND, CLEAN, "--profile", profile, "--grid", "1,2,4", "--duration", "5s", *options)
    conserved(made)
    return made


def test_through_tls(behind: dict[str, str], tmp_path: Path) -> None:
    made = through(behind["tls"], tmp_path, "--insecure")
    in_order(made)
    assert set(made.records["outcome"]) <= {"ok", "cut"}
    assert made.curve.endpoint.verified_tls is False
    assert "insecure" in {finding.code for finding in made.curve.findings}


def test_a_gateway_that_would_compress_and_hold_back(behind: dict[str, str], tmp_path: Path) -> None:
    """Asked for identity it does not compress; it still buffers, and that shows as chunks that come together."""
    made = through(behind["gzip"], tmp_path)
    in_order(made)
    assert set(made.records["outcome"]) <= {"ok", "cut"}
    as_asked(made)


def test_a_gateway_with_a_limit(behind: dict[str, str], tmp_path: Path) -> None:
    """Two at a time: what is refused is capacity, counted apart."""
    made = through(behind["limited"], tmp_path)
    refused = [point.outcomes_all.get("rate_limited", 0) for point in made.curve.points]
    assert refused[0] == refused[1] == 0 < refused[2]
    (limit,) = (finding.data for finding in made.curve.points[2].findings if finding.code == "rate-limited")
    assert limit["retry_after_s"] == 1
    assert set(made.records["outcome"]) <= {"ok", "cut", "rate_limited"}


def test_a_gateway_that_gives_up(behind: dict[str, str], tmp_path: Path) -> None:
    """A prompt that takes longer than its second of patience ends in 504, told as such."""
    made = through(behind["impatient"], tmp_path, profile="1200/16")
    assert set(made.records["outcome"]) <= {"ok", "cut", "http_error", "truncated"}
    assert {status for point in made.curve.points for status in point.statuses} <= {"200", "504"}
