"""One contract for every dialect: what the simulated endpoint says is what the client reads, however the bytes arrive.

What answers in one piece has no stream to be read; everything else holds for all.
"""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from sweep import dialect
from sweep.dialect import Dialect, Frame, fault, multipart, sse
from sweep.model import Ask, Event, SimChunk, Usage
from sweep.prompt import media

REPLY = ("reply-1", "some-model")
TEXTS = ("Hello", " wörld", "\n\n", ' "quoted"\\', " 👩‍👩‍👧")
USAGE = Usage(prompt_tokens=33, completion_tokens=5, cached_tokens=16)
NEWLINES = (b"\n", b"\r\n", b"\r")
OPTIONAL = ("stream_options", "continuous_usage", "ignore_eos", "min_tokens", "return_token_ids", "cache_prompt")
EVERY = [dialect.get(name) for name in dialect.names()]


def over(*dialects: Dialect) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spoken", dialects, ids=[spoken.NAME for spoken in dialects])


every_dialect = over(*EVERY)
every_streaming = over(*(spoken for spoken in EVERY if spoken.TRAITS.streams))
every_with_text = over(*(spoken for spoken in EVERY if "text" in spoken.TRAITS.inputs))


def asked(spoken: Dialect, prompt: str = "x", osl: int = 1, stream: bool = True, fields: tuple[str, ...] = ()) -> Ask:
    audio = media.sound("speech", osl, 0, "n") if "audio" in spoken.TRAITS.inputs else None
    return Ask(model="m", prompt=prompt, osl=osl, stream=stream, fields=fields, audio=audio)


def sent(spoken: Dialect, ask: Ask) -> dict[str, Any]:
    """The fields of the request on the wire."""
    body = spoken.encode(ask)
    if spoken.TRAITS.content_type == "application/json":
        return dict(json.loads(body))
    assert spoken.TRAITS.content_type == multipart.CONTENT_TYPE
    return dict(multipart.decode(body))


def frames(spoken: Dialect, usage: Usage | None = USAGE) -> list[Frame]:
    chunks = [spoken.chunk(*REPLY, SimChunk(text=text)) for text in TEXTS]
    return [*spoken.opening(*REPLY), *chunks, *spoken.closing(*REPLY, "length", usage)]


def wire(stream: list[Frame], newline: bytes, *, space: bool = True, comments: bool = False, bom: bool = False) -> bytes:
    """The stream as a server might frame it."""
    noise = b": ping" + newline * 2 + b"id: 7" + newline + b"retry: 10" + newline if comments else b""
    return b"\xef\xbb\xbf" * bom + b"".join(noise + sse.frame(*frame, newline=newline, space=space) for frame in stream)


def one_piece(spoken: Dialect, text: str, reasoning: bool = False) -> bytes:
    """Data that carries `text`: of an event where answers are streamed, else the whole answer."""
    if not spoken.TRAITS.streams:
        return spoken.whole(*REPLY, text, "stop", USAGE)
    return spoken.chunk(*REPLY, SimChunk(text=text, tokens=2, usage=USAGE, reasoning=reasoning))[1]


def received(spoken: Dialect, reads: list[bytes]) -> list[Event]:
    splitter = sse.Splitter()
    return [spoken.decode(data) for read in reads for data in splitter.feed(read)]


def summary(events: list[Event]) -> tuple[Any, ...]:
    """What a client makes of a stream, whichever events carried it."""
    return (
        sum(event.token for event in events),
        sum(event.answer for event in events),
        [event.finish for event in events if event.finish],
        [event.usage for event in events if event.usage][-1:],
        [event.done for event in events].index(True) if any(event.done for event in events) else None,
        [event.error for event in events if event.error],
    )


@every_dialect
def test_defines_the_whole_protocol(spoken: Dialect) -> None:
    for name, expected in inspect.getmembers(Dialect, inspect.isfunction):
        if not name.startswith("_") and (spoken.TRAITS.streams or name not in ("opening", "chunk", "closing")):
            assert list(inspect.signature(expected).parameters)[1:] == list(inspect.signature(getattr(spoken, name)).parameters)
    assert spoken.PATH.startswith("/")
    assert dialect.get(spoken.NAME) is spoken
    assert spoken.TRAITS.unit
    assert {"text", "ids", "images", "audio"} >= set(spoken.TRAITS.inputs) > set()


@every_streaming
def test_a_stream_says_its_tokens_usage_finish_and_end(spoken: Dialect) -> None:
    events = [spoken.decode(data) for _, data in frames(spoken)]
    opening = len(spoken.opening(*REPLY))
    assert [event.token for event in events[:opening]] == [False] * opening
    assert [(event.token, event.answer) for event in events[opening : opening + len(TEXTS)]] == [(True, True)] * len(TEXTS)
    assert not any(event.token for event in events[opening + len(TEXTS) :])
    assert [event.finish for event in events if event.finish] == ["length"]
    usage = [event.usage for event in events if event.usage][-1]
    assert usage in (USAGE, msgspec.structs.replace(USAGE, cached_tokens=None))  # not every API tells what was cached
    assert [event.done for event in events].count(True) == spoken.TRAITS.ends_with_done
    assert not spoken.TRAITS.ends_with_done or events[-1].done
    assert not any(event.error for event in events)


@every_streaming
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_finish_reasons_survive(spoken: Dialect, finish: str) -> None:
    events = [spoken.decode(data) for _, data in spoken.closing(*REPLY, finish, None)]
    assert [event.finish for event in events if event.finish] == [finish]


@every_streaming
@pytest.mark.parametrize("newline", NEWLINES, ids=repr)
@pytest.mark.parametrize("noise", [{}, {"space": False}, {"comments": True, "bom": True}], ids=str)
def test_split_at_every_byte(spoken: Dialect, newline: bytes, noise: dict[str, bool]) -> None:
    stream = wire(frames(spoken), newline, **noise)
    expected = [spoken.decode(data) for _, data in frames(spoken)]
    assert received(spoken, [stream[at : at + 1] for at in range(len(stream))]) == expected
    datas = [data for _, data in frames(spoken)]
    for at in range(len(stream) + 1):
        splitter = sse.Splitter()
        assert splitter.feed(stream[:at]) + splitter.feed(stream[at:]) == datas
        assert splitter.pending == 0


@every_streaming
def test_merged_at_random(spoken: Dialect) -> None:
    chance = random.Random(7)
    stream = b"".join(
        sse.frame(event, data, newline=chance.choice(NEWLINES), space=chance.random() < 0.5)
        + chance.choice([b"", b":\n", b": x\r\n\r\n"])
        for event, data in frames(spoken)
    )
    expected = [spoken.decode(data) for _, data in frames(spoken)]
    for _ in range(50):
        cuts = sorted(chance.sample(range(len(stream)), chance.randint(1, 30)))
        reads = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        assert summary(received(spoken, reads)) == summary(expected)


@every_streaming
def test_usage_so_far_comes_with_the_token(spoken: Dialect) -> None:
    event = spoken.decode(
        spoken.chunk(*REPLY, SimChunk(text="x", tokens=3, usage=Usage(prompt_tokens=9, completion_tokens=3)))[1]
    )
    assert event.token
    if event.usage is not None:  # dialects without it say so by leaving it out
        assert (event.usage.prompt_tokens, event.usage.completion_tokens) == (9, 3)


@every_streaming
def test_reasoning_is_a_token(spoken: Dialect) -> None:
    assert spoken.decode(one_piece(spoken, "hmm", reasoning=True)).token


@every_dialect
def test_a_request_reads_back(spoken: Dialect) -> None:
    ask = asked(spoken, 'Say "hi"\n\twörld 👍', 77, fields=OPTIONAL)
    read = spoken.read(spoken.encode(ask))
    assert (read.osl, read.model, read.stream) == (77, "m", spoken.TRAITS.streams)
    assert not spoken.read(spoken.encode(asked(spoken, stream=False))).stream


@every_with_text
def test_a_prompt_arrives_whole(spoken: Dialect) -> None:
    prompt = 'Say "hi"\n\twörld 👍'
    read = spoken.read(spoken.encode(asked(spoken, prompt, 1))).prompt
    if spoken.TRAITS.streams:
        assert read == prompt
    assert read.split() == prompt.split()


@over(*(spoken for spoken in EVERY if "ids" in spoken.TRAITS.inputs))
def test_token_ids_stand_in_place_of_text(spoken: Dialect) -> None:
    """The simulated endpoint takes an id for a word."""
    ask = msgspec.structs.replace(asked(spoken, prompt=""), ids=[17, 4, 65_000])
    assert spoken.read(spoken.encode(ask)).prompt == "17 4 65000"


@every_dialect
def test_nothing_optional_is_sent_unasked(spoken: Dialect) -> None:
    unasked = {*OPTIONAL, *spoken.TRAITS.optional, "temperature", "top_p", "seed", "stop", "n"}
    assert not sent(spoken, asked(spoken)).keys() & unasked
    assert "stream_options" not in sent(spoken, asked(spoken, stream=False, fields=OPTIONAL))


@every_dialect
def test_what_is_optional_is_sent_when_asked(spoken: Dialect) -> None:
    bare = spoken.encode(asked(spoken, osl=2))
    for name in spoken.TRAITS.optional:
        assert spoken.encode(asked(spoken, osl=2, fields=(name,))) != bare


@every_dialect
@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b'"x"', b"{", b'{"model": 5}', b'{"model":"m","messages":[]}', b"\xff"]
)
def test_a_malformed_request_is_refused(spoken: Dialect, body: bytes) -> None:
    with pytest.raises(ValueError):
        spoken.read(body)


@every_dialect
def test_no_tokens_cannot_be_asked_for(spoken: Dialect) -> None:
    with pytest.raises(ValueError):
        spoken.read(spoken.encode(asked(spoken, osl=0)))


@every_dialect
def test_an_answer_in_one_piece(spoken: Dialect) -> None:
    event = spoken.decode_whole(spoken.whole(*REPLY, "Hello there", "stop", USAGE))
    assert (event.token, event.answer, event.finish) == (True, True, "stop")
    assert event.usage is not None
    assert event.usage.completion_tokens == USAGE.completion_tokens
    assert event.usage.prompt_tokens == (USAGE.prompt_tokens if "text" in spoken.TRAITS.inputs else None)
    assert not spoken.decode_whole(spoken.whole(*REPLY, "", "stop", USAGE)).token
    with pytest.raises(ValueError):
        spoken.decode_whole(b"<html>")


@every_streaming
def test_an_error_inside_a_stream(spoken: Dialect) -> None:
    body = spoken.failure("out of memory", 500)
    event = spoken.decode(body)
    assert "out of memory" in (event.error or "")
    assert not event.token
    assert "out of memory" in fault.explain(body)


@every_dialect
def test_half_an_event_is_not_understood(spoken: Dialect) -> None:
    data = one_piece(spoken, "Hello")
    for end in range(1, len(data)):
        with pytest.raises(ValueError):
            spoken.decode(data[:end])


@every_dialect
def test_fields_may_be_null_missing_or_unknown(spoken: Dialect) -> None:
    stream = [data for _, data in frames(spoken) if data.startswith(b"{")] if spoken.TRAITS.streams else []
    for data in [*stream, one_piece(spoken, "x", reasoning=True)]:
        whole = json.loads(data)
        for changed in variants(whole):
            spoken.decode(json.dumps(changed).encode())
        assert spoken.decode(json.dumps(with_unknown(whole)).encode()) == spoken.decode(data)


def variants(value: Any) -> Iterator[Any]:
    """`value` with each field of each object once null and once absent."""
    if isinstance(value, dict):
        for key in value:
            yield {**value, key: None}
            yield {other: item for other, item in value.items() if other != key}
            yield from ({**value, key: item} for item in variants(value[key]))
    elif isinstance(value, list):
        for place in range(len(value)):
            yield from ([*value[:place], item, *value[place + 1 :]] for item in variants(value[place]))


def with_unknown(value: Any) -> Any:
    """`value` with a field nobody knows in every object."""
    if isinstance(value, dict):
        return {"zz_new": {"a": [1, None, "x"]}, **{key: with_unknown(item) for key, item in deepcopy(value).items()}}
    return [with_unknown(item) for item in value] if isinstance(value, list) else value
