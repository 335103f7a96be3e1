"""Whole sweeps against servers that misbehave in every way: each ends with findings and a file, and what was sound is measured.

Every third request meets the hostility; preflight does not, since an endpoint that answers nothing at all is refused before.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from listening import listening_aside

from sweep import dialect
from sweep.cli import main
from sweep.curve import artifact
from sweep.dialect.sse import frame
from sweep.load import inquiry
from sweep.model import Ask, Curve, SimChunk, Usage
from sweep.plan import patience

CHAT = dialect.get("chat")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
TOKEN = frame(*CHAT.chunk("r", "m", SimChunk(text=" tok")))
STREAM_BYTES = 16 << 20
LEVEL = 3

Out = asyncio.StreamWriter
Talk = Callable[[Out], Awaitable[None]]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def sends(*parts: bytes) -> Talk:
    async def talk(out: Out) -> None:
        for part in parts:
            out.write(part)
            await out.drain()

    return talk


def floods(first: bytes, piece: bytes, times: int = 1_600) -> Talk:
    """As much as the client takes, up to 100 MB."""
    return sends(first, *[piece] * times)


async def drips(out: Out) -> None:
    """One byte a second, for ever."""
    out.write(HEAD)
    while not out.is_closing():
        out.write(chunk(b":"))
        await out.drain()
        await asyncio.sleep(1)


async def goes_on(out: Out) -> None:
    """A stream of tokens that never ends."""
    out.write(HEAD)
    while not out.is_closing():
        out.write(chunk(TOKEN))
        await out.drain()
        await asyncio.sleep(0.01)


async def resets(out: Out) -> None:
    out.write(HEAD + chunk(TOKEN))
    await out.drain()
    out.transport.abort()


MIB = b"x" * 65_536
HOSTILE: dict[str, tuple[Talk, str]] = {
    "endless headers": (floods(b"HTTP/1.1 200 OK\r\n", b"X-More: of the same\r\n" * 3_000), "malformed"),
    "one endless header": (floods(b"HTTP/1.1 200 OK\r\nX: ", MIB), "malformed"),
    "a 100 MB event": (floods(HEAD + b"6400000\r\ndata: ", MIB), "malformed"),
    "an endless chunk size": (floods(HEAD, b"0" * 65_536), "malformed"),
    "an endless JSON answer": (
        floods(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b" " * 65_536),
        "malformed",
    ),
    "an endless error": (floods(b"HTTP/1.1 500 No\r\n\r\n", MIB), "http_error"),
    "a compression bomb": (floods(HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n6400000\r\n", b"\x1f\x8b" + MIB), "malformed"),
    "a stream that never ends": (goes_on, "timeout_deadline"),
    "a byte a second": (drips, "timeout_deadline"),
    "invalid UTF-8": (sends(HEAD, chunk(TOKEN), chunk(TOKEN.replace(b" tok", b"\xff\xfe"))), "malformed"),
    "a chunk size that is none": (sends(HEAD, b"0x1f\r\n"), "malformed"),
    "a chunk longer than it says": (sends(HEAD, b"3\r\nabcdef\r\n"), "malformed"),
    "closed at once": (sends(), "truncated"),
    "closed in the head": (sends(b"HTTP/1.1 200 OK\r\nContent-"), "truncated"),
    "closed after the head": (sends(HEAD), "truncated"),
    "closed in a chunk": (sends(HEAD, b"fff\r\n" + TOKEN), "truncated"),
    "closed between chunks": (sends(HEAD, chunk(TOKEN)), "truncated"),
    "closed in the last chunk": (sends(HEAD, chunk(TOKEN) + b"0\r"), "truncated"),
    "reset": (resets, "truncated"),
    "a redirect": (
        sends(b"HTTP/1.1 307 Elsewhere\r\nLocation: http://elsewhere/?key=1\r\nContent-Length: 0\r\n\r\n"),
        "http_error",
    ),
    "a page": (sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<html>hi</html>"), "malformed"),
    "contradictory lengths": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), "malformed"),
    "a length and chunks": (sends(HEAD[:-2] + b"Content-Length: 5\r\n\r\n"), "malformed"),
    "an answer to another question": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" * 2), "empty"),
    "no HTTP": (sends(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "malformed"),
}


def good(asked: bytes) -> bytes:
    ask = CHAT.read(asked)
    frames = [*CHAT.opening("r", "m"), *([CHAT.chunk("r", "m", SimChunk(text=" tok"))] * ask.osl)]
    frames += CHAT.closing("r", "m", "length", Usage(prompt_tokens=7 + len(ask.prompt.split()), completion_tokens=ask.osl))
    return HEAD + chunk(b"".join(frame(*each) for each in frames)) + b"0\r\n\r\n"


@contextmanager
def serving(hostile: Talk, spares_preflight: bool = True) -> Iterator[str]:
    """A server in a thread: every third request of a cell is answered by `hostile`, which then closes the connection."""

    async def connected(reader: asyncio.StreamReader, out: Out) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0]) if b"content-length: " in head else 0
            body = await reader.readexactly(length)
            identity = head.split(b"x-request-id: ")[1].split(b"\r\n")[0] if b"x-request-id: " in head else b""
            if head.startswith(b"get"):
                models = b'{"data":[{"id":"m"}]}'
                out.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(models), models)
                )
            elif spares_preflight and (
                not identity[:1].isdigit() or b"-preflight" in identity or int(identity.split(b"-")[0]) % 3
            ):
                await asyncio.sleep(0.01)
                out.write(good(body))
            else:
                await hostile(out)
                return

    with listening_aside(connected) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(autouse=True)
def impatient(undrawn: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What never ends is given up after three seconds instead of ten minutes."""
    monkeypatch.setattr(patience, "SHORTEST_DEADLINE_S", 3.0)
    monkeypatch.setattr(patience, "SLOWDOWN", 1)


def swept(url: str, out: Path) -> Curve:
    """Two cells."""
    plan = ["--profile", "24/4", "--grid", f"{LEVEL},1", "--duration", "500ms", "--cap", "5s", "--workers", "1", "--cold-start"]
    code = main.run(["--endpoint", url, *plan, "--out", str(out), "--name", "run", "--yes"])
    assert code in (0, 4)
    return artifact.load(out / "run" / "run.curve.json")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_sweep_goes_on_whatever_it_meets(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    talk, outcome = HOSTILE[name]
    with serving(talk) as url:
        curve = swept(url, tmp_path)
    err = capfd.readouterr().err
    assert "Traceback" not in err, err
    assert curve.complete
    assert [point.load.level for point in curve.points] == [LEVEL, 1]
    for point in curve.points:
        assert set(point.outcomes_all) <= {"ok", "cut", "unsent", outcome}
        assert point.outcomes_all.get("ok", 0) > 0
        assert point.outcomes_all.get(outcome, 0) > 0
        assert point.disqualified
        assert point.findings


@pytest.mark.parametrize("name", HOSTILE)
def test_an_endpoint_that_is_hostile_from_the_first_request_is_refused_in_one_line(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inquiry, "ANSWER_TIMEOUT_S", 1.0)
    with serving(HOSTILE[name][0], spares_preflight=False) as url:
        assert main.run(["probe", url]) == 3
    said = capfd.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["error", "hint"]


def test_a_hostile_stream_costs_the_client_little_memory(tmp_path: Path) -> None:
    """Of the workers: what three streams at a time may need more than a sweep against a good server did."""

    def most_kib(talk: Talk, folder: str) -> int:
        with serving(talk) as url:
            swept(url, tmp_path / folder)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    before = most_kib(sends(good(CHAT.encode(Ask(model="m", prompt="x", osl=4)))), "good")
    after = max(most_kib(HOSTILE[name][0], name.replace(" ", "-")) for name in ("a 100 MB event", "an endless JSON answer"))
    assert after - before < LEVEL * STREAM_BYTES // 1024
