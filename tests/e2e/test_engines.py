"""Every server that can be installed, swept at three loads: `make e2e-all`. What cannot be had is skipped with the reason.

Times are compared with the server's own histograms of the same requests, so that the noise of the machine is in both; servers that
tell nothing are watched by an observer that stands before them. `pytest -rP` shows the rows of docs/servers.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from checks import Swept, as_asked, as_observed, observed, plain_sweep, sound, sweep_of, tell, with_seen
from conftest import EVERY_SERVER, started
from engines import llamacpp, nginx, transformers_serve, vllm, whisper
from engines.engine import CannotRun, Engine
from observer import Exchange, watching

pytestmark = EVERY_SERVER
LOADS = ("--grid", "1,2,4", "--duration", "8s")
Behind = tuple[dict[str, str], list[Exchange]]


def by_its_metrics(name: str, swept: Swept, osl: int) -> None:
    """Tokens, requests and mean times of a sweep are those of vLLM's own counters and histograms."""
    counted = {key.removeprefix("vllm:"): value for key, value in swept.counted.items()}
    ttft_s, tpot_s, e2e_s = (counted[f"{time}_sum"] / counted[f"{time}_count"] for time in vllm.TIMES)
    tell(name, swept, (counted["generation_tokens_total"], ttft_s, tpot_s, e2e_s), "`/metrics`")
    whole = swept.records["osl"].fill_null(0).sum()
    assert whole <= counted["generation_tokens_total"] <= whole + swept.cut * osl
    assert len(swept.ok) <= counted["request_success_total"] <= len(swept.ok) + swept.cut  # some end while being cut
    begun = swept.records.drop_nulls("first_ns")
    assert len(begun) <= counted[f"{vllm.TIMES[0]}_count"] <= len(begun) + swept.cut
    # The server's clocks begin when its core has the request and end when it has the token: parsing, templating and sending come
    # on top, at both ends of a busy machine.
    assert swept.mean_tpot_s == pytest.approx(tpot_s, rel=0.05, abs=0.001)
    assert swept.mean_s("sent_ns", "last_ns") == pytest.approx(e2e_s, rel=0.05, abs=0.03)
    assert ttft_s <= swept.mean_s("sent_ns", "first_ns", begun) <= 1.05 * ttft_s + 0.03


@pytest.fixture(scope="module")
def generator() -> Iterator[Engine]:
    yield from started(vllm.running())


@pytest.mark.parametrize("dialect", ["chat", "completions", "messages", "responses"])
def test_vllm(generator: Engine, tmp_path: Path, dialect: str) -> None:
    isl, osl = 96, 32
    made = sweep_of(generator, tmp_path, "--profile", f"{isl}/{osl}", "--dialect", dialect, *LOADS, counters=vllm.COUNTERS)
    sound(made)
    as_asked(made)
    assert set(made.ok["token_source"]) == {"usage"}
    by_its_metrics(f"vLLM `{dialect}`", made, osl)


def test_vllm_up_to_64_streams(tmp_path: Path) -> None:
    """A model so small that 64 streams are no burden to it, though its server and the client together are one to two cores."""
    for engine in started(vllm.tiny_running()):
        loads = ("--grid", "4,16,64", "--duration", "8s")
        made = sweep_of(engine, tmp_path, "--profile", "96/64", *loads, counters=vllm.COUNTERS)
        sound(made)
        as_asked(made)
        whole = made.records["osl"].fill_null(0).sum()
        assert whole <= made.counted["vllm:generation_tokens_total"] <= whole + made.cut * 64
        assert len(made.ok) <= made.counted["vllm:request_success_total"] <= len(made.ok) + made.cut  # some end while being cut
        as_observed(made)
        tell("vLLM `chat`, tiny model", made, observed(made), "observer")


@pytest.fixture(scope="module")
def pooling() -> Iterator[Engine]:
    yield from started(vllm.pooling())


@pytest.mark.parametrize(("dialect", "extra"), [("embeddings", 0), ("rerank", 1)])
def test_vllm_pooling(pooling: Engine, tmp_path: Path, dialect: str, extra: int) -> None:
    """A batch is as many requests inside; a reranker that compares embeddings makes one of the query as well."""
    profile = tmp_path / "batch.toml"
    profile.write_text(f'title = "batches"\ndialect = "{dialect}"\nstart = "cold"\nisl.mean = 512\nosl.mean = 8\n')
    made = sweep_of(pooling, tmp_path, "--profile", str(profile), *LOADS, counters=vllm.COUNTERS)
    sound(made)
    as_asked(made)
    as_observed(made, streamed=False)
    assert made.curve.endpoint.unit == {"embeddings": "vectors", "rerank": "documents"}[dialect]
    inside = made.counted["vllm:request_success_total"] / (8 + extra)
    assert len(made.ok) <= inside <= len(made.ok) + made.cut
    prompts, sent = made.counted["vllm:prompt_tokens_total"], made.ok["isl"].sum()
    assert sent <= prompts <= sent + 1.05 * made.cut * 512
    tell(f"vLLM `{dialect}`, batches of 8", made, observed(made), "observer")


def test_transformers_serve(tmp_path: Path) -> None:
    """It refuses `ignore_eos` and `min_tokens`: answers may be shorter than asked, and are recorded as they are."""
    for engine in started(transformers_serve.running()):
        loads = ("--model", str(transformers_serve.model()), "--profile", "64/16", *LOADS)
        made = sweep_of(engine, tmp_path, *loads)
        sound(made)
        as_asked(made)
        as_observed(made)
        assert made.curve.endpoint.osl_honoured is False
        tell("transformers serve `chat`", made, observed(made), "observer")


def test_whisper(tmp_path: Path) -> None:
    """It works on one clip at a time: more load only queues."""
    profile = tmp_path / "clips.toml"
    profile.write_text(
        'title = "clips"\ndialect = "transcription"\ntext = "speech"\nstart = "cold"\nisl.mean = 0\nosl.mean = 5\n'
    )
    for engine in started(whisper.running()):
        made = sweep_of(engine, tmp_path, "--model", "tiny", "--profile", str(profile), *LOADS)
        sound(made)
        as_observed(made, streamed=False)
        assert made.curve.endpoint.unit == "audio seconds"
        assert (made.ok["osl"] == 5).all()
        waits = [point.metrics["e2e_s"]["p50"].value or 0.0 for point in made.curve.points]
        assert waits == sorted(waits)
        tell("faster-whisper `transcription`, 5 s", made, observed(made), "observer")


@pytest.fixture(scope="module")
def behind() -> Iterator[Behind]:
    """Gateways before llama.cpp, and what passes between the two."""
    try:
        with llamacpp.running() as engine, watching(engine.url) as (url, exchanges), nginx.running(url) as places:
            yield places, exchanges
    except CannotRun as reason:
        pytest.skip(str(reason))


def through(behind: Behind, place: str, out: Path, *options: str, profile: str = "64/16") -> Swept:
    places, exchanges = behind
    exchanges.clear()
    loads = ("--profile", profile, "--grid", "1,2,4", "--duration", "5s", *options)
    return with_seen(plain_sweep(places[place], out, *loads), exchanges)


def test_through_tls(behind: Behind, tmp_path: Path) -> None:
    made = through(behind, "tls", tmp_path, "--insecure")
    sound(made)
    as_asked(made)
    as_observed(made)
    assert made.curve.endpoint.verified_tls is False
    assert "insecure" in {finding.code for finding in made.curve.findings}
    tell("nginx with TLS, llama.cpp", made, observed(made), "observer behind nginx")


def test_a_gateway_that_would_compress_and_hold_back(behind: Behind, tmp_path: Path) -> None:
    """Asked for identity it does not compress; it may still hold chunks back, which shows as chunks that come together."""
    made = through(behind, "gzip", tmp_path)
    sound(made)
    as_asked(made)
    tell("nginx that buffers, llama.cpp", made, observed(made), "observer behind nginx")


def test_a_gateway_with_a_limit(behind: Behind, tmp_path: Path) -> None:
    """Two at a time: what is refused is capacity, counted apart, and never got further than nginx."""
    made = through(behind, "limited", tmp_path)
    sound(made, "rate_limited")
    refused = [point.outcomes_all.get("rate_limited", 0) for point in made.curve.points]
    assert refused[0] == refused[1] == 0 < refused[2]
    assert not {row["request"] for row in made.records.to_dicts() if row["outcome"] == "rate_limited"} & made.seen.keys()
    (limit,) = (finding.data for finding in made.curve.points[2].findings if finding.code == "rate-limited")
    assert limit["retry_after_s"] == 1


def test_a_gateway_that_gives_up(behind: Behind, tmp_path: Path) -> None:
    """A prompt that takes longer than its four seconds of patience ends in 504, told as such."""
    made = through(behind, "impatient", tmp_path, profile="1200/16")
    sound(made, "http_error", "truncated")
    assert {status for point in made.curve.points for status in point.statuses} <= {"200", "504"}
