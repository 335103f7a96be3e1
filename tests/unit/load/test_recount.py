"""Answers whose tokens nobody counts: their text is kept until it is whole, and counted when the cell is over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sweep import dialect
from sweep.dialect import SimChunk
from sweep.dialect.sse import frame
from sweep.load import recount, said
from sweep.load.call import Call
from sweep.load.client import target_from
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.load.preflight import probe
from sweep.load.recount import Texts, recounted, wanted
from sweep.load.tokenize import count_of, ids_of
from sweep.model import Calibration, Endpoint, Outcome, TokenSource, Usage
from sweep.records import Records, from_rows
from sweep.sim.server import start

CHAT = dialect.get("chat")


def answered(*texts: str, usage: Usage | None = None, ids: bool = False, finish: bool = True) -> Call:
    """A call whose answer came in these pieces."""
    call = Call(7, 8, 8, b"{}", Meter(CHAT, Reads(), keeps_text=True))
    frames = [*CHAT.opening("r", "m")]
    frames += [CHAT.chunk("r", "m", SimChunk(text=text, tokens=1, with_ids=ids)) for text in texts]
    for each in frames + (CHAT.closing("r", "m", "stop", usage) if finish else []):
        call.meter.feed(frame(*each), 1)
    call.settle(call.meter.outcome())
    return call


def test_only_what_nobody_counted_is_kept_and_only_when_it_is_whole() -> None:
    assert answered("ab", "ü").row().text == "abü"
    assert answered("ab", "c", ids=True).row().text is None
    assert answered("ab", "c", usage=Usage(prompt_tokens=1, completion_tokens=7)).row().text is None
    assert answered("ab", "c", finish=False).row().text is None
    assert answered("ab", "c").row().token_source == "chunks"


def test_a_text_too_long_to_be_held_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "MAX_BYTES", 5)
    assert answered("abc", "def", "g").row().text is None


def test_a_cell_s_texts_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recount, "MAX_CHARS", 8)
    texts = Texts()
    row = answered("abc").row()
    texts.keep(msgspec.structs.replace(row, request=number) for number in range(5))
    assert texts.kept == {0: "abc", 1: "abc"}


def test_every_channel_is_text() -> None:
    delta = {"reasoning": "a", "content": "b", "tool_calls": [{"function": {"name": "f", "arguments": "c"}}]}
    event = {"id": "no", "choices": [{"delta": delta, "finish_reason": None}], "usage": {"content": "no"}}
    assert said.text_of(json.dumps(event).encode()) == "abc"
    assert [said.text_of(each) for each in (b"[DONE]", b"{}", b'{"choices":null}')] == [""] * 3


@pytest.mark.parametrize(
    ("told", "count", "ids"),
    [
        ({"count": 3, "max_model_len": 9, "tokens": [4, 5, 6]}, 3, [4, 5, 6]),
        ({"tokens": [4, 5]}, 2, [4, 5]),
        ({"tokens": [{"id": 4, "piece": "a"}]}, 1, None),
        ({"count": 3}, 3, None),
        ({"error": {"message": "no"}}, None, None),
    ],
)
def test_what_servers_answer(told: dict[str, Any], count: int | None, ids: list[int] | None) -> None:
    assert (count_of(told), ids_of(told)) == (count, ids)


# --- against an endpoint -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulated() -> Iterator[str]:
    with start("synthetic-8b-bf16", faults=("no_usage",)) as served:
        yield served.url


def rows(*chunks: int) -> Records:
    """One answer each of so many chunks, which is what they were counted by."""
    return from_rows(
        {"request": number, "osl": count, "token_source": TokenSource.CHUNKS.value, "outcome": Outcome.OK.value}
        for number, count in enumerate(chunks)
    )


def told(records: Records) -> list[tuple[int, str]]:
    return list(zip(records["osl"].tolist(), records["token_source"].tolist(), strict=True))


def known(url: str, **facts: object) -> Endpoint:
    calibration = Calibration(tokens_per_word=1.0, template_tokens=0.0, source="assumed")
    return Endpoint(url=url, model="m", dialect="chat", calibration=calibration, usage_reported=False, facts=facts)


def test_an_endpoint_that_counts_nothing_but_lends_its_tokenizer(simulated: str) -> None:
    target = target_from(simulated, environ={})
    endpoint = probe(target, "chat")
    assert (endpoint.usage_reported, endpoint.lends_tokenizer) == (False, True)
    assert wanted(target, endpoint)
    found, _ = recounted(rows(1, 2, 3), {0: "tok tok tok ", 2: "tok"}, target, endpoint)
    assert told(found) == [(3, "tokenize"), (2, "chunks"), (1, "tokenize")]


def test_whoever_reports_usage_is_not_asked() -> None:
    with start("synthetic-8b-bf16") as served:
        target = target_from(served.url, environ={})
        assert not wanted(target, probe(target, "chat", thorough=True))


def test_what_is_not_counted_in_time_keeps_the_next_source(simulated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = target_from(simulated, environ={})
    monkeypatch.setattr(recount, "WITHIN_S", 0.0)
    assert told(recounted(rows(2), {0: "tok"}, target, known(simulated, tokenize=True))[0]) == [(2, "chunks")]
    monkeypatch.setattr(recount, "encoder", lambda path: lambda text: list(range(len(text))))
    given = msgspec.structs.replace(target, tokenizer="tokenizer.json")
    assert told(recounted(rows(2), {0: "tok"}, given, known(simulated, tokenize=True))[0]) == [(3, "tokenizer")]
    assert told(recounted(rows(2), {0: "tok"}, given, known(simulated))[0]) == [(3, "tokenizer")]


def test_an_endpoint_that_is_gone_takes_nothing_away() -> None:
    gone = "http://127.0.0.1:9"
    found, _ = recounted(rows(2), {0: "tok"}, target_from(gone, environ={}), known(gone, tokenize=True))
    assert told(found) == [(2, "chunks")]
    assert np.array_equal(found["request"], [0])
