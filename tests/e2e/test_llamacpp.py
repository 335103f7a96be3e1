"""A whole sweep of a real llama.cpp server: what it must show, checked against its own counters and the times it tells of each request."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from statistics import fmean, median

import pytest
from checks import Swept, as_asked, as_observed, observed, sound, sweep_of, tell, timings
from conftest import EVERY_SERVER
from engines import llamacpp
from engines.llamacpp import Engine

from sweep import dialect
from sweep.dialect.sse import Splitter
from sweep.model import Ask

ISL, OSL = 96, 32
LEVELS = [1.0, 2.0, 4.0]
COUNTERS = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")


@pytest.fixture(scope="module")
def swept(llama: Engine, tmp_path_factory: pytest.TempPathFactory) -> Swept:
    options = ("--profile", f"{ISL}/{OSL}", "--grid", "1,2,4", "--duration", "8s")
    out = tmp_path_factory.mktemp("llama")
    return sweep_of(llama, out, *options, counters=[f"llamacpp:{name}" for name in COUNTERS])


def test_every_request_is_accounted_for(swept: Swept) -> None:
    sound(swept)
    assert [point.load.level for point in swept.curve.points] == LEVELS
    assert all(point.outcomes == {"ok": point.cohort} for point in swept.curve.points)
    assert swept.curve.endpoint.model == "smollm2"


def test_lengths_are_as_asked_by_the_server_s_own_usage(swept: Swept) -> None:
    as_asked(swept)
    assert set(swept.ok["token_source"]) == {"usage"}
    for point in swept.curve.points:
        assert point.osl.mean == OSL
        assert point.isl.mean == pytest.approx(ISL, rel=0.05)


def test_tokens_agree_with_the_server_s_counters(swept: Swept) -> None:
    """The server counts what it computed for the requests that were cut at a cell's end too: at most one answer each."""
    assert swept.cut <= sum(LEVELS)
    read, cached, made = (swept.counted[f"llamacpp:{name}"] for name in COUNTERS)
    assert swept.ok["isl"].sum() <= read + cached <= swept.ok["isl"].sum() + swept.cut * 1.05 * (ISL + OSL)
    assert swept.ok["osl"].sum() <= made <= swept.ok["osl"].sum() + swept.cut * OSL


def test_times_agree_with_those_the_server_tells_of_each_request(swept: Swept) -> None:
    """Its generation lasts from the first token's sampling to the last one's; its prompt, from when a slot took it up."""
    as_observed(swept)
    shares = []
    for row, seen in swept.pairs():
        told = timings(seen)
        assert told["predicted_n"] == row["osl"]
        assert row["first_ns"] - row["sent_ns"] >= told["prompt_ms"] * 1e6
        if row["osl"] == OSL:  # warm-ups that begin in mid-flight last too short to compare
            shares.append((row["last_ns"] - row["first_ns"]) / (told["predicted_ms"] * 1e6))
    assert median(shares) == pytest.approx(1, abs=0.01)
    assert fmean(shares) == pytest.approx(1, abs=0.05)
    tell("llama.cpp `chat`", swept, observed(swept), "observer")
    print(f"generation, ours / its own `timings`: {min(shares):.4f} to {max(shares):.4f}, median {median(shares):.4f}")


def test_more_load_only_queues_here(swept: Swept) -> None:
    """Four at a time last about four times as long as one."""
    e2e = [point.metrics["e2e_s"]["p50"].value or 0.0 for point in swept.curve.points]
    assert 0 < 2 * e2e[0] < e2e[-1]


def test_its_keep_alive_quirk_is_recorded(swept: Swept) -> None:
    """It promises keep-alive and closes after each stream: no request may be lost to that."""
    assert swept.curve.endpoint.keep_alive is False
    assert {finding.code for point in swept.curve.points for finding in point.findings} >= {"keep-alive-off"}
    assert (swept.records["retries"] == 0).all()


@EVERY_SERVER
@pytest.mark.parametrize("name", ["completions", "messages", "responses"])
def test_its_other_dialects(llama: Engine, tmp_path: Path, name: str) -> None:
    loads = ("--profile", f"{ISL}/{OSL}", "--dialect", name, "--grid", "1,4", "--duration", "5s")
    made = sweep_of(llama, tmp_path, *loads)
    sound(made)
    as_asked(made)
    as_observed(made)
    tell(f"llama.cpp `{name}`", made, observed(made), "observer")


def test_a_thought_is_told_apart_from_the_answer(tmp_path: Path) -> None:
    """Twelve tokens of `reasoning_content`, then the answer: two times to first token, as the observer saw them."""
    with llamacpp.running(*llamacpp.THINKING) as engine:
        made = sweep_of(engine, tmp_path, "--profile", "64/24", "--grid", "1,2", "--duration", "5s")
    sound(made)
    as_observed(made)
    thoughtful = 0
    for row, seen in made.pairs():
        answer_ns = seen.answer_ns()
        assert (row["first_answer_ns"] is None) == (answer_ns is None)
        if answer_ns is not None:
            thoughtful += row["first_ns"] < row["first_answer_ns"]
            assert row["first_answer_ns"] == pytest.approx(answer_ns, abs=20e6)
    assert thoughtful > 0
    for point in made.curve.points:
        whole, answer = (point.metrics[name]["p50"].value or 0.0 for name in ("ttft_s", "ttft_answer_s"))
        assert 0 < whole < answer


def test_guesses_that_come_true_arrive_together(tmp_path: Path) -> None:
    """Speculative decoding: up to eight tokens at once, each in a chunk of its own; counts are not shaken by it."""
    with llamacpp.running(*llamacpp.GUESSING) as engine:
        made = sweep_of(engine, tmp_path, "--profile", "64/96", "--grid", "1,2", "--duration", "6s")
    sound(made)
    as_asked(made)
    as_observed(made)
    assert sum(timings(seen).get("draft_n_accepted", 0) for _, seen in made.pairs()) > 0
    assert made.ok["events_per_read_max"].max() > 1
    assert "coalesced" in {finding.code for point in made.curve.points for finding in point.findings}


def test_calls_of_tools_are_tokens(llama: Engine) -> None:
    """A call that is forced, read as the sweep reads it: nearly every event carries a token, the first one the function's name."""
    chat = dialect.get("chat")
    function = {"name": "sail", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}}
    body = json.loads(chat.encode(Ask(model="smollm2", prompt="Sail to Iceland.", osl=64, fields=("stream_options",))))
    body |= {"tools": [{"type": "function", "function": function}], "tool_choice": "required", "temperature": 0}
    headers = {"Content-Type": "application/json"}
    ask = urllib.request.Request(f"{llama.url}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(ask, timeout=60) as answer:
        events = [chat.decode(data) for data in Splitter().feed(answer.read())]
    usage = next(event.usage for event in events if event.usage)
    tokens = [event for event in events if event.token]
    assert all(event.answer for event in tokens)
    assert 3 < len(tokens) <= (usage.completion_tokens or 0)
    assert events[-1].done
