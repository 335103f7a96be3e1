"""Tokens and times of a stream, whatever shape the server gives it."""

from __future__ import annotations

import json

import pytest

from sweep import dialect
from sweep.load.look import Reads
from sweep.load.meter import MAX_EVENT_BYTES, Meter
from sweep.model import Outcome, TokenSource

CHAT = dialect.get("chat")


def event(
    content: str | None = None, *, finish: str | None = None, usage: int | None = None, ids: int = 0, **delta: object
) -> bytes:
    body: dict[str, object] = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    if content is not None:
        delta["content"] = content
    if ids:
        body["choices"][0]["token_ids"] = list(range(ids))  # type: ignore[index]
    if usage is not None:
        body["usage"] = {"prompt_tokens": 9, "completion_tokens": usage}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


LAST = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}\n\n'
DONE = b"data: [DONE]\n\n"


def metered(*reads: bytes) -> tuple[Meter, list[int], list[int]]:
    """Read i is stamped i; (meter, chunk times, chunk tokens)."""
    meter = Meter(CHAT, Reads())
    for at, read in enumerate(reads):
        meter.feed(read, at)
    meter.end()
    times, tokens = meter.take()
    return meter, list(times), list(tokens)


def test_role_and_empty_deltas_are_no_tokens() -> None:
    meter, times, tokens = metered(event("", role="assistant"), event(""), event("a"), event("b"), event(finish="stop"), DONE)
    assert (times, tokens) == ([2, 3], [1, 1])
    assert meter.outcome() is Outcome.OK
    assert meter.tokens() == (2, TokenSource.CHUNKS)


def test_a_closing_usage_counts_but_extends_nothing() -> None:
    meter, times, _ = metered(event("a"), event("b"), event(finish="length"), LAST % 3, DONE)
    assert times == [0, 1]
    assert meter.tokens() == (3, TokenSource.USAGE)
    assert meter.last_ns == 1


def test_usage_in_the_finish_chunk_is_no_token() -> None:
    meter, times, _ = metered(event("a"), event("b"), event(finish="length", usage=2), DONE)
    assert times == [0, 1]
    assert meter.tokens() == (2, TokenSource.USAGE)


def test_continuous_usage_counts_tokens_without_text_and_several_at_once() -> None:
    reads = event("", usage=0, role="assistant"), event("a", usage=1), event("", usage=2), event("bcd", usage=5)
    meter, times, tokens = metered(*reads)
    assert (times, tokens) == ([1, 2, 3], [1, 1, 3])
    assert meter.tokens() == (5, TokenSource.CONTINUOUS_USAGE)
    assert meter.outcome() is Outcome.TRUNCATED


def test_a_first_chunk_that_holds_several() -> None:
    meter, _, tokens = metered(event("abc", usage=3), event("d", usage=4), event(finish="stop", usage=4), DONE)
    assert tokens == [3, 1]
    assert meter.first_tokens == 3


def test_a_stale_usage_does_not_hide_tokens() -> None:
    _, times, tokens = metered(event("a", usage=0), event("b", usage=0), event("c", usage=0))
    assert (times, tokens) == ([0, 1, 2], [1, 1, 1])


def test_token_ids_count() -> None:
    meter, _, tokens = metered(event("abc", ids=3), event("", ids=2), event(finish="stop"), DONE)
    assert tokens == [3, 2]
    assert meter.tokens() == (5, TokenSource.TOKEN_IDS)


def test_reasoning_comes_first_and_the_answer_later() -> None:
    reads = event(reasoning_content="hm"), event(reasoning_content="so"), event("42"), event(finish="stop"), DONE
    meter, times, _ = metered(*reads)
    assert (times[0], meter.answer_ns) == (0, 2)


def test_shapes_change_nothing() -> None:
    """Texts that could trick a reader that does not parse: quotes, escapes, other channels, errors, other languages."""
    texts = ["plain", 'say "hi"', "back\\slash", "new\nline", '"},{', "größe", "", "data: ", "[DONE]", "plain"]
    reads = [event(text) for text in texts] + [event(reasoning_content="x"), event("y", role="assistant")]
    meter, times, tokens = metered(*reads, event("z", finish="length"), DONE)
    assert times == [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]
    assert set(tokens) == {1}
    meter = metered(event("a"), event("b"), event("c")[:-2] + b"\ndata: }\n\n")[0]
    assert meter.failed is Outcome.MALFORMED


def test_several_events_in_a_read_share_its_stamp() -> None:
    meter, times, _ = metered(event("a"), event("b") + event("c") + event("d"), event("e", finish="stop") + DONE)
    assert times == [0, 1, 1, 1, 2]
    assert meter.per_read_max == 3
    assert meter.reads.counts[:5] == [0, 2, 0, 1, 0]


@pytest.mark.parametrize("size", [1, 2, 5, 17, 64, 200])
def test_events_split_anywhere(size: int) -> None:
    raw = event("", role="assistant") + event("a") + event("b") + event("c") + event(finish="length") + LAST % 3 + DONE
    meter, times, _ = metered(*(raw[at : at + size] for at in range(0, len(raw), size)))
    ends = [raw.index(text) for text in (b'"a"', b'"b"', b'"c"')]
    assert times == [(raw.index(b"\n\n", end) + 1) // size for end in ends]
    assert meter.tokens() == (3, TokenSource.USAGE)


def test_errors_and_events_too_large() -> None:
    meter = metered(event("a"), b'data: {"error":{"message":"boom","code":500}}\n\n', event("b"))[0]
    assert (meter.outcome(), meter.chunks) == (Outcome.STREAM_ERROR, 1)
    assert "boom" in (meter.error or "")
    meter = metered(b"data: " + b"x" * MAX_EVENT_BYTES, b"x" * 100)[0]
    assert meter.outcome() is Outcome.MALFORMED


def test_nothing_after_the_end_mark_counts() -> None:
    assert metered(event("a"), event(finish="stop") + DONE + event("b"), event("c"))[0].chunks == 1


def test_taking_in_between_loses_nothing() -> None:
    meter = Meter(CHAT, Reads())
    meter.feed(event("a"), 5)
    assert [list(part) for part in meter.take()] == [[5], [1]]
    meter.feed(event("b"), 7)
    assert (meter.chunks, meter.first_ns) == (2, 5)
    meter.take()
    assert (meter.last_ns, meter.tokens()[0]) == (7, 2)


@pytest.mark.parametrize("count", [0, -3, 2**31 + 1, 2**64 - 1, 10**40])
def test_a_count_that_cannot_be_meant_is_none(count: int) -> None:
    meter, _, tokens = metered(event("a"), event("b"), event(finish="length"), LAST.replace(b"%d", str(count).encode()), DONE)
    assert meter.tokens() == (2, TokenSource.CHUNKS)
    assert tokens == [1, 1]
    meter = metered(event("a"), event(finish="length"), LAST.replace(b"9", str(count).encode()) % 1, DONE)[0]
    assert meter.usage is not None
    assert meter.usage.prompt_tokens is None
    assert meter.tokens() == (1, TokenSource.USAGE)


def test_a_count_that_sinks_brings_no_tokens() -> None:
    meter, times, tokens = metered(*(event("a", usage=count) for count in (4, 2, 3, 5)), event(finish="length", usage=5), DONE)
    assert times == [0, 1, 2, 3]
    assert tokens == [4, 1, 1, 1]
    assert meter.tokens() == (5, TokenSource.USAGE)


@pytest.mark.parametrize("written", ['"2"', "2.0", "2e0"])
def test_a_count_may_be_written_as_text_or_as_a_fraction(written: str) -> None:
    meter = metered(event("a"), event("b"), event(finish="length"), LAST.replace(b"%d", written.encode()), DONE)[0]
    assert meter.tokens() == (2, TokenSource.USAGE)
