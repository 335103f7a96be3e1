"""Whatever a server sends, a request ends in the outcome that names it, and never in any other."""

from __future__ import annotations

import asyncio
import tracemalloc
from time import monotonic_ns

import pytest
from listening import Talk, listening
from msgspec.structs import asdict

from sweep import dialect
from sweep.load import call as one_call
from sweep.load import meter
from sweep.load.answer import WHOLE_BYTES
from sweep.load.call import Call
from sweep.load.caller import Caller
from sweep.load.client import target_from
from sweep.load.look import Reads
from sweep.load.meter import MAX_EVENT_BYTES, Meter
from sweep.load.wire import Wire
from sweep.model import Ask, Outcome

CHAT = dialect.get("chat")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":null}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2}}\n\n'
DONE = b"data: [DONE]\n\n"
WHOLE = ROLE + TOKEN + TOKEN + FINISH + USAGE + DONE
KEY = "sk-very-secret-0123456789"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunked(data: bytes) -> bytes:
    return HEAD + chunk(data) + b"0\r\n\r\n"


def plain(status: str, body: bytes, *headers: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers])
    return head.encode() + b"\r\n\r\n" + body


def typed(kind: bytes, body: bytes) -> bytes:
    return HEAD.replace(b"text/event-stream", kind) + chunk(body) + b"0\r\n\r\n"


async def request_of(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


def sends(*parts: bytes, reset: bool = False) -> Talk:
    """A server that answers every request with `parts`, one write each, and closes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.001)
        if reset:
            writer.transport.abort()

    return talk


def ask(talk: Talk, *, calls: int = 1, connections: int | None = None, give_up_s: float = 5.0) -> list[Call]:
    """`calls` requests, one after the other, to a server that talks like that, on so many connections at most."""

    async def run() -> list[Call]:
        taken = 0

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal taken
            taken += 1
            if taken == connections:
                server.close()
            await talk(reader, writer)

        done = []
        async with listening(connected) as server:
            port = server.sockets[0].getsockname()[1]
            target = target_from(f"http://127.0.0.1:{port}", headers=[f"Authorization: Bearer {KEY}"], environ={})
            async with Caller(target, CHAT, "test", Wire()) as caller:
                for number in range(calls):
                    body = CHAT.encode(Ask(model="m", prompt="000123456789 Some prompt of a few words", osl=2))
                    call = Call(number, 8, 2, body, Meter(CHAT, Reads()))
                    call.planned_ns = monotonic_ns()
                    task = asyncio.create_task(caller.perform(call))
                    while not (await asyncio.wait([task], timeout=0.02))[0]:
                        if call.lingers(monotonic_ns()):
                            call.stop(call.meter.outcome())
                        elif monotonic_ns() > call.planned_ns + give_up_s * 1e9:
                            call.stop(Outcome.TIMEOUT_IDLE, "silent")
                    done.append(call)
        return done

    return asyncio.run(run())


def holds(call: Call) -> bool:
    """The invariant of MEASUREMENT: planned <= sent <= first <= last <= end."""
    row = asdict(call.row())
    times = [row[name] for name in ("planned_ns", "sent_ns", "first_ns", "last_ns", "end_ns") if row[name] is not None]
    return times == sorted(times)


def test_a_whole_answer_is_ok_and_counts_what_usage_says() -> None:
    (call,) = ask(sends(chunked(WHOLE)))
    row = asdict(call.row())
    assert (row["outcome"], row["osl"], row["isl"], row["token_source"], row["chunks"]) == ("ok", 2, 11, "usage", 2)
    assert row["status"] == 200
    assert holds(call)


def test_every_split_of_the_bytes_is_the_same_answer() -> None:
    body = chunked(WHOLE)
    for size in (1, 2, 3, 7, 50):
        (call,) = ask(sends(*(body[at : at + size] for at in range(0, len(body), size))) if size > 3 else drips(body, size))
        row = asdict(call.row())
        assert (row["outcome"], row["osl"], row["chunks"]) == ("ok", 2, 2), size


def drips(body: bytes, size: int) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        for at in range(0, len(body), size):
            writer.write(body[at : at + size])
            await asyncio.sleep(0)

    return talk


ENDS: dict[str, tuple[Talk, Outcome]] = {
    "no finish": (sends(chunked(ROLE + TOKEN)), Outcome.TRUNCATED),
    "closed inside a chunk": (sends(HEAD + b"fff\r\n" + TOKEN), Outcome.TRUNCATED),
    "closed between chunks": (sends(HEAD + chunk(TOKEN)), Outcome.TRUNCATED),
    "reset inside": (sends(HEAD + chunk(TOKEN), reset=True), Outcome.TRUNCATED),
    "closed in the head": (sends(b"HTTP/1.1 200 OK\r\nContent-"), Outcome.TRUNCATED),
    "closed without a byte": (sends(), Outcome.TRUNCATED),
    "whole but the last chunk": (sends(HEAD + chunk(WHOLE)), Outcome.OK),
    "finish without [DONE]": (sends(chunked(TOKEN + FINISH)), Outcome.OK),
    "[DONE] without finish": (sends(chunked(TOKEN + DONE)), Outcome.OK),
    "until close": (sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + WHOLE), Outcome.OK),
    "HTTP/1.0": (sends(b"HTTP/1.0 200 OK\r\n\r\n" + WHOLE), Outcome.OK),
    "interim first": (sends(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + chunked(WHOLE)), Outcome.OK),
    "CRLF events": (sends(chunked(WHOLE.replace(b"\n", b"\r\n"))), Outcome.OK),
    "data: without space": (sends(chunked(WHOLE.replace(b"data: ", b"data:"))), Outcome.OK),
    "comments": (sends(chunked(b": ping\n\n" + WHOLE.replace(b"\n\n", b"\n\n: ping\n\n"))), Outcome.OK),
    "error inside 200": (sends(chunked(TOKEN + b'data: {"error":{"message":"boom"}}\n\n')), Outcome.STREAM_ERROR),
    "no JSON": (sends(chunked(TOKEN + b"data: {oops\n\n")), Outcome.MALFORMED),
    "invalid UTF-8": (sends(chunked(TOKEN + TOKEN + TOKEN.replace(b"one", b"\xff\xfe") + FINISH)), Outcome.MALFORMED),
    "a stream called JSON": (sends(typed(b"application/json", WHOLE)), Outcome.OK),
    "JSON called a stream": (sends(typed(b"text/event-stream", b'\n {"error":{"message":"boom"}}')), Outcome.STREAM_ERROR),
    "a page called a stream": (sends(typed(b"text/event-stream", b"<html>hi</html>")), Outcome.MALFORMED),
    "JSON lines": (sends(typed(b"application/x-ndjson", b'{"done":false}\n{"done":true}\n')), Outcome.MALFORMED),
    "HTML": (sends(plain("200 OK", b"<html>hi</html>", "Content-Type: text/html")), Outcome.MALFORMED),
    "compressed": (sends(HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n" + chunk(b"\x1f\x8b" * 99)), Outcome.MALFORMED),
    "bad chunk size": (sends(HEAD + b"0x1f\r\nabc"), Outcome.MALFORMED),
    "chunk too long": (sends(HEAD + b"3\r\nabcdef\r\n"), Outcome.MALFORMED),
    "no HTTP": (sends(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), Outcome.MALFORMED),
    "contradictory length": (sends(plain("200 OK", b"", "Content-Length: 5")), Outcome.MALFORMED),
    "length and chunks": (sends(plain("200 OK", b"", "Transfer-Encoding: chunked")), Outcome.MALFORMED),
    "no token": (sends(chunked(ROLE + FINISH + DONE)), Outcome.EMPTY),
    "only [DONE]": (sends(chunked(DONE)), Outcome.EMPTY),
    "500": (sends(plain("500 Internal Server Error", b'{"error":{"message":"out of memory"}}')), Outcome.HTTP_ERROR),
    "429 without Retry-After": (sends(plain("429 Too Many Requests", b"slow down")), Outcome.HTTP_ERROR),
    "429": (sends(plain("429 Too Many Requests", b"", "Retry-After: 7")), Outcome.RATE_LIMITED),
    "503": (sends(plain("503 Service Unavailable", b"", "Retry-After: 7")), Outcome.RATE_LIMITED),
    "redirect": (sends(plain("307 Temporary Redirect", b"", "Location: http://elsewhere/?key=1")), Outcome.HTTP_ERROR),
    "whole JSON": (
        sends(
            plain(
                "200 OK",
                b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
                "Content-Type: application/json",
            )
        ),
        Outcome.OK,
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_each_end_has_its_outcome(name: str) -> None:
    talk, outcome = ENDS[name]
    (call,) = ask(talk)
    assert call.outcome is outcome, call.error
    assert call.error or outcome in (Outcome.OK, Outcome.EMPTY)
    assert holds(call)


def test_an_answer_before_the_question_is_no_answer() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(chunked(WHOLE))
        await request_of(reader)

    (call,) = ask(talk, give_up_s=0.3)
    assert call.outcome is not Outcome.OK
    assert holds(call)


def test_nothing_listens() -> None:
    async def run() -> Call:
        call = Call(0, 8, 2, b"{}", Meter(CHAT, Reads()))
        call.planned_ns = monotonic_ns()
        async with Caller(target_from("http://127.0.0.1:9", environ={}), CHAT, "test", Wire()) as caller:
            await caller.perform(call)
        return call

    call = asyncio.run(run())
    assert call.outcome is Outcome.CONNECT
    assert call.sent_ns is None


def test_a_closed_kept_connection_costs_one_counted_retry() -> None:
    """A server that promises to keep the connection and closes it after each answer, as llama.cpp's does."""
    calls = ask(sends(chunked(WHOLE)), calls=3)
    assert [call.outcome for call in calls] == [Outcome.OK] * 3
    assert all(call.retries <= 1 for call in calls)
    assert holds(calls[-1])


def test_a_retry_that_finds_nobody_was_not_sent() -> None:
    """The server reads a second request on a kept connection, closes it and listens no more."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(chunked(WHOLE))
        await request_of(reader)

    first, call = ask(talk, calls=2, connections=1)
    assert first.outcome is Outcome.OK
    assert (call.outcome, call.retries, call.sent_ns) == (Outcome.CONNECT, 1, None)
    assert holds(call)


def test_what_comes_after_the_end_mark_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that goes on sending comments keeps no answer open that is complete."""
    monkeypatch.setattr(one_call, "COMPLETE_GRACE_NS", 50_000_000)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(HEAD + chunk(WHOLE))
        while not writer.is_closing():
            writer.write(chunk(b": still here\n\n"))
            await asyncio.sleep(0.005)

    (call,) = ask(talk)
    assert (call.outcome, call.meter.tokens()[0]) == (Outcome.OK, 2)


def test_a_fresh_connection_that_closes_is_not_retried() -> None:
    (call,) = ask(sends())
    assert (call.outcome, call.retries) == (Outcome.TRUNCATED, 0)


def test_kept_connections_are_used_again() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request_of(reader)
            writer.write(chunked(WHOLE))

    calls = ask(talk, calls=3)
    assert [call.reused for call in calls] == [False, True, True]
    assert [call.connected_ns is None for call in calls] == [False, True, True]
    assert all(call.outcome is Outcome.OK for call in calls)


def test_bytes_after_an_answer_end_the_connection() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(chunked(WHOLE) + chunked(WHOLE))
        await asyncio.sleep(0.2)

    calls = ask(talk, calls=2)
    assert [call.outcome for call in calls] == [Outcome.OK] * 2
    assert [call.reused for call in calls] == [False, False]


def test_an_error_never_repeats_the_key_or_the_prompt() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await request_of(reader)
        writer.write(plain("400 Bad Request", b"wrong: " + asked.replace(b"\r\n", b" ")[-150:] + KEY.encode()))

    (call,) = ask(talk)
    assert call.outcome is Outcome.HTTP_ERROR
    assert call.error is not None
    assert KEY not in call.error
    assert "prompt of a few words" not in call.error


def floods(first: bytes, piece: bytes, pieces: int) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        writer.write(first)
        for _ in range(pieces):
            writer.write(piece)
            await writer.drain()

    return talk


FLOODS = {
    "endless headers": floods(b"HTTP/1.1 200 OK\r\n", b"X-More: of the same\r\n" * 500, 4000),
    "one endless header": floods(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65536, 1500),
    "a 100 MB event": floods(HEAD + b"6400000\r\ndata: ", b"x" * 65536, 1600),
    "endless chunk size": floods(HEAD, b"0" * 65536, 1500),
    "an endless error page": floods(b"HTTP/1.1 500 No\r\n\r\n", b"x" * 65536, 1500),
    "an endless JSON answer": floods(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b" " * 65536, 1500),
    "a compression bomb": floods(HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n6400000\r\n", b"\x1f\x8b" * 32_768, 1600),
    "interim for ever": floods(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 1000),
}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_end_early_and_hold_little(name: str) -> None:
    """At most 16 MB a stream, the server's own buffers included."""
    tracemalloc.start()
    try:
        (call,) = ask(FLOODS[name])
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert call.outcome in (Outcome.MALFORMED, Outcome.HTTP_ERROR), call.error
    assert peak_bytes < 16 << 20


def test_the_largest_answers_that_are_taken_hold_little() -> None:
    """An event and a whole answer just below what is refused."""
    event = TOKEN.replace(b"one", b"x" * (MAX_EVENT_BYTES - 1000))
    whole = b'{"choices":[{"message":{"content":"%b"},"finish_reason":"stop"}]}' % (b"x" * (WHOLE_BYTES - 1000))
    answers = {
        "event": [HEAD + b"%x\r\n" % len(event + FINISH + DONE), event, FINISH + DONE + b"\r\n0\r\n\r\n"],
        "whole": [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(whole), whole],
    }
    for name, parts in answers.items():
        served = sum(map(len, parts))
        tracemalloc.start()
        try:
            (call,) = ask(floods_of(*parts))
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert call.outcome is Outcome.OK, (name, call.error)
        assert peak_bytes < 16 << 20, (name, peak_bytes, served)


def floods_of(*parts: bytes) -> Talk:
    """`parts` in pieces, so that the server holds none of them."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_of(reader)
        for part in parts:
            for at in range(0, len(part), 65_536):
                writer.write(part[at : at + 65_536])
                await writer.drain()

    return talk


def test_a_stream_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "MAX_CHUNKS", 5_000)
    (call,) = ask(floods(HEAD, chunk(TOKEN) * 100, 1_000))
    assert call.outcome is Outcome.MALFORMED
    assert 5_000 < call.meter.chunks < 10_000
