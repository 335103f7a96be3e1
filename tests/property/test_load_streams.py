"""A stream means the same however the network cut it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sweep import dialect
from sweep.dialect.sse import frame
from sweep.load.http1 import Response
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.model import Outcome, SimChunk, Usage

texts = st.lists(st.text(max_size=12), min_size=1, max_size=12)
cuts = st.lists(st.integers(1, 60), min_size=1, max_size=40)


def pieces(raw: bytes, sizes: list[int]) -> list[bytes]:
    """`raw` in pieces of these sizes, over and over."""
    parts, at, turn = [], 0, 0
    while at < len(raw):
        size = sizes[turn % len(sizes)]
        parts.append(raw[at : at + size])
        at, turn = at + size, turn + 1
    return parts


@given(st.sampled_from(["chat", "completions"]), texts, cuts, cuts, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans())
def test_tokens_do_not_depend_on_chunks_or_reads(
    name: str, words: list[str], chunks: list[int], reads: list[int], newline: bytes, space: bool
) -> None:
    speech = dialect.get(name)
    usage = Usage(prompt_tokens=7, completion_tokens=len(words))
    frames = [*speech.opening("r", "m"), *(speech.chunk("r", "m", SimChunk(text=word)) for word in words)]
    frames += speech.closing("r", "m", "length", usage)
    body = b"".join(frame(*each, newline=newline, space=space) for each in frames)
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw += b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in pieces(body, chunks)) + b"0\r\n\r\n"

    response, meter = Response(), Meter(speech, Reads())
    for at, part in enumerate(pieces(raw, reads)):
        fed = response.feed(part)
        if fed:
            meter.feed(fed, at)
    meter.end()
    assert response.complete
    assert not response.surplus
    assert meter.chunks == sum(bool(word) for word in words)
    assert meter.outcome() is (Outcome.OK if any(words) else Outcome.EMPTY)
    times, tokens = meter.take()
    assert list(times) == sorted(times)
    assert set(tokens) <= {1}
    assert meter.usage == usage


@given(st.binary(max_size=400), cuts)
def test_no_bytes_at_all_break_the_reader(raw: bytes, reads: list[int]) -> None:
    """Whatever arrives, it is read or refused with ValueError, and the cut decides nothing."""

    def outcome(parts: list[bytes]) -> tuple[bool, bytes]:
        response, body = Response(), b""
        try:
            for part in parts:
                body += response.feed(part)
        except ValueError:
            return False, b""
        return response.complete, body

    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert outcome(pieces(head + raw, reads)) == outcome([head + raw])
