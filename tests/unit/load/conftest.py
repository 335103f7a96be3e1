"""A real server in a thread, for clients that own the main thread or live in other processes."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from listening import listening_aside

from sweep import dialect
from sweep.dialect.sse import frame
from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.model import SimChunk, Usage

CERTIFICATE = Path(__file__).with_name("localhost.pem")  # self-signed for localhost, with its key


class Server:
    """An OpenAI-like server whose traits a test sets; it counts what it was sent."""

    def __init__(self) -> None:
        self.port = 0
        self.reset()

    def reset(self) -> None:
        """As new: an ordinary server that was asked nothing yet."""
        self.ttft_s = 0.005
        self.itl_s = 0.002
        self.usage = True
        self.refuses: tuple[str, ...] = ()  # optional request fields answered with 400
        self.names_refused = True
        self.advises = ""
        self.length: int | None = None  # answers' own length, whatever was asked
        self.closes = False  # after every answer, without saying so
        self.never_ends = False  # a complete answer's body stays open
        self.hangs_after: int | None = None  # requests answered before it falls silent
        self.models: list[dict[str, Any]] | None = [{"id": "m", "max_model_len": 4096}]
        self.status: tuple[str, bytes] | None = None
        self.fails_every = 0
        self.turns_away: dict[int, str] = {}  # which answers are a 429, with these further header lines
        self.tokens_per_chunk = 1
        self.remembers_s: float | None = None  # what a prompt that was sent before waits, in place of `ttft_s`
        self.before_prompts: int | None = None  # lends its tokenizer, a word a token, and puts so many before every prompt
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.answers = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._answer(reader, writer):
            pass

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split()
        self.asked.append((path, headers, body))
        if method == "GET":
            self._get(path, writer)
            return True
        if self.status is not None:
            self._plain(writer, *self.status)
            return True
        if path == "/tokenize":
            self._tokenize(body, writer)
            return True
        self.answers += 1
        if self.answers in self.turns_away:
            self._plain(writer, f"429 Too Many Requests{self.turns_away[self.answers]}", b"slow down")
            return True
        if self.fails_every and self.answers % self.fails_every == 0:
            self._plain(writer, "500 Internal Server Error", b"no")
            return True
        if self.hangs_after is not None and self.answers > self.hangs_after:
            await asyncio.sleep(30)
        refused = [name for name in self.refuses if name.encode() in body]
        if refused:
            said = f"unknown field {refused[0]}" if self.names_refused else "bad request"
            self._plain(writer, "400 Bad Request", f"{said} {self.advises}".encode())
            return True
        await self._stream(path, body, writer)
        return not self.closes

    def _get(self, path: str, writer: asyncio.StreamWriter) -> None:
        import json

        if path.endswith("/models") and self.models is not None:
            self._plain(writer, "200 OK", json.dumps({"data": self.models}).encode(), "application/json")
        elif path == "/version":
            self._plain(writer, "200 OK", b'{"version":"1.2.3"}', "application/json")
        else:
            self._plain(writer, "404 Not Found", b"nothing here")

    def _tokenize(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        import json

        if self.before_prompts is None:
            self._plain(writer, "404 Not Found", b"nothing here")
            return
        ids = [zlib.crc32(word.encode()) % 50_000 for word in json.loads(body)["prompt"].split()]
        self._plain(writer, "200 OK", json.dumps({"tokens": ids}).encode(), "application/json")

    @staticmethod
    def _plain(writer: asyncio.StreamWriter, status: str, body: bytes, kind: str = "text/plain") -> None:
        writer.write(
            f"HTTP/1.1 {status}\r\nServer: toy\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )

    async def _stream(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        speech = dialect.get("chat" if "chat" in path else "completions")
        ask = speech.read(body)
        length = ask.osl if self.length is None else self.length
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        before = sum(body == earlier for _, _, earlier in self.asked) > 1
        await asyncio.sleep(self.remembers_s if before and self.remembers_s is not None else self.ttft_s)
        for _ in range(0, length, self.tokens_per_chunk):
            self._frames(writer, [speech.chunk("r", "m", SimChunk(text=" tok", tokens=self.tokens_per_chunk))])
            await asyncio.sleep(self.itl_s)
        words = len(ask.prompt.split())
        prompt_tokens = 10 + 2 * words if self.before_prompts is None else self.before_prompts + words
        usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=length) if self.usage and ask.include_usage else None
        self._frames(writer, speech.closing("r", "m", "length", usage))
        if self.never_ends:
            await asyncio.sleep(30)
        writer.write(b"0\r\n\r\n")

    @staticmethod
    def _frames(writer: asyncio.StreamWriter, frames: list[tuple[str | None, bytes]]) -> None:
        data = b"".join(frame(*each) for each in frames)
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))


@contextmanager
def running(server: Server, context: ssl.SSLContext | None = None) -> Iterator[str]:
    with listening_aside(server.talk, context) as server.port:
        yield f"{'https' if context else 'http'}://localhost:{server.port}"


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """serve(server) or serve(server, tls=True) -> its URL, until the test ends."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(server: Server, tls: bool = False) -> str:
            context = None
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
            return stack.enter_context(running(server, context))

        yield start


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture(scope="session")
def fleets() -> Iterator[tuple[Server, dict[int, Fleet]]]:
    """A server and fleets of one and of two workers for it, as starting workers takes longer than most tests."""
    server = Server()
    with running(server) as url:
        target = target_from(url, environ={})
        with Fleet(target, 1) as one, Fleet(target, 2) as two:
            yield server, {1: one, 2: two}
