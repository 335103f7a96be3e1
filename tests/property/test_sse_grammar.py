"""The splitter against a slow parser that follows the EventSource grammar of the WHATWG HTML standard word for word."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sweep.dialect.sse import Splitter, frame

PIECES = [
    b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r", b"data", b"data:", b"data: ", b"data:  ", b":", b": ping", b" ", b"event: x",
    b"id: 1", b"retry: 5", b"datax: 1", b"Data: 1", b'{"a": 1}', b"[DONE]", b"x", b"\xef", b"\xbb", b"\xbf", b"\xef\xbb\xbf", b"\xff", b"\0",
    b"data: x\n\n", b"data: x\r\n\r\n", b"data: y\n\ndata: z\n\n", b"\xe2\x80\xa8",
]  # fmt: skip
streams = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)


def reference(stream: bytes) -> tuple[list[bytes], bytes | None]:
    """(data of the dispatched events, data of the event that the end of the stream leaves undispatched)."""
    events: list[bytes] = []
    *lines, unended = re.split(rb"\r\n|\n|\r", stream.removeprefix(b"\xef\xbb\xbf"))
    buffer = b""
    for line in lines:
        if line == b"":
            if buffer != b"":
                events.append(buffer.removesuffix(b"\n"))
            buffer = b""
        else:
            buffer = process_field(line, buffer)
    left = process_field(unended, buffer) if unended else buffer
    return events, left.removesuffix(b"\n") if left else None


def process_field(line: bytes, buffer: bytes) -> bytes:
    if line.startswith(b":"):
        return buffer
    field, colon, value = line.partition(b":")
    if colon and value.startswith(b" "):
        value = value[1:]
    return buffer + value + b"\n" if field == b"data" else buffer


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[begin:end] for begin, end in pairwise(edges)]


@settings(max_examples=200)
@given(streams, st.lists(st.integers(0, 500), max_size=8))
@example(b"data: x\r\n\n", [])
@example(b"\rdata: x\n\n", [8])
@example(b"data: a\ndata: b\n\n", [8])
@example(b"data: a\ndata: b", [])
@example(b"data: x\rdata: y\r\n\r\n", [])
@example(b"data: a\r\n\n\ndata: b\n\n", [9])
@example(b"data: a\n\r\ndata: b\r\n\r\n", [8])
@example(b"\xef\xbb\xbfdata: a\n\n", [1, 2])
@example(b"\xef\xbbdata: a\n\n", [1])
def test_any_stream_in_any_reads(stream: bytes, places: list[int]) -> None:
    splitter = Splitter()
    events = [data for read in cut(stream, places) for data in splitter.feed(read)]
    assert (events, splitter.tail()) == reference(stream)


@given(streams)
def test_byte_by_byte_is_all_at_once(stream: bytes) -> None:
    whole, single = Splitter(), Splitter()
    assert whole.feed(stream) == [data for at in range(len(stream)) for data in single.feed(stream[at : at + 1])]
    assert whole.tail() == single.tail()
    assert whole.pending == single.pending


lines = st.lists(st.sampled_from([b" ", b":", b"data: ", b"x", b"\xff", b"\0"]), max_size=4).map(b"".join)


@given(
    st.lists(st.lists(lines, min_size=1, max_size=3).map(b"\n".join), max_size=6),
    st.sampled_from([b"\n", b"\r", b"\r\n"]),
    st.booleans(),
    st.sampled_from([None, "named"]),
    st.lists(st.integers(0, 500), max_size=5),
)
def test_what_is_framed_comes_back(
    datas: list[bytes], newline: bytes, space: bool, event: str | None, places: list[int]
) -> None:
    stream = b"".join(frame(event, data, newline=newline, space=space) for data in datas)
    splitter = Splitter()
    assert [data for read in cut(stream, places) for data in splitter.feed(read)] == datas
    assert splitter.pending == 0


@settings(max_examples=150)
@given(streams, st.lists(st.integers(0, 500), max_size=8), st.integers(0, 12))
def test_the_limit_does_not_depend_on_the_reads(stream: bytes, places: list[int], limit: int) -> None:
    assert verdict([stream], limit) == verdict(cut(stream, places), limit)


def verdict(reads: list[bytes], limit: int) -> list[bytes] | str:
    splitter = Splitter(max_event_bytes=limit)
    try:
        return [data for read in reads for data in splitter.feed(read)]
    except ValueError:
        return "refused"


def test_the_limit_is_inclusive() -> None:
    assert verdict([b"data:aaaa\ndata:aaaaa\n\n"], 10) == [b"aaaa\naaaaa"]
    assert verdict([b"data:aaaaa\ndata:aaaaa\n\n"], 10) == "refused"
    assert verdict([b"data:aaaaa\n\n"], 10) == [b"aaaaa"]
    assert verdict([b"data:aaaaaa\n\n"], 10) == "refused"


@pytest.mark.parametrize("piece", [b"x" * 100, b"data: " + b"x" * 100, b"data: x\n", b"data\n", b": x"])
def test_an_endless_event_is_refused_while_it_is_small(piece: bytes) -> None:
    splitter = Splitter(max_event_bytes=1000)
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        feed_for_ever(splitter, piece)
    assert splitter.pending <= 1001 + len(piece)


def feed_for_ever(splitter: Splitter, piece: bytes) -> None:
    for _ in range(2000):
        splitter.feed(piece)


def test_endless_comments_are_no_burden() -> None:
    splitter = Splitter(max_event_bytes=100)
    for _ in range(1000):
        assert splitter.feed(b": keep-alive\n\n: x\n") == []
    assert splitter.pending == 0
