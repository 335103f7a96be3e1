"""An independent observer between a sweep and a server: it stamps the bytes that go by and knows nothing of the sweep."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TEXTS = ("content", "reasoning", "reasoning_content", "text", "thinking")
_NUMBER = re.compile(rb"^x-request-id: (\d+)-(?!preflight|canary)", re.IGNORECASE | re.MULTILINE)


@dataclass
class Exchange:
    """A request and its answer as they passed. Times are CLOCK_MONOTONIC ns, as those of the records are."""

    request: bytes = b""
    asked_ns: int = 0  # the last of the request
    reads: list[tuple[int, bytes]] = field(default_factory=list)  # of the answer: when, what

    @property
    def number(self) -> int | None:
        """Of the request in its sweep; None for those before it."""
        told = _NUMBER.search(self.request)
        return int(told[1]) if told else None

    @property
    def ended_ns(self) -> int:
        return self.reads[-1][0]

    def events(self) -> list[tuple[int, dict[str, Any]]]:
        """The JSON objects of an event stream, each with the time of the read that ended its line."""
        found, held = [], b""
        for at_ns, data in self.reads:
            *lines, held = (held + data).split(b"\n")
            found += [(at_ns, json.loads(line[6:])) for line in lines if line.startswith(b"data: {")]
        return found

    def tokens_ns(self) -> list[int]:
        """When each event passed that holds text."""
        return [at_ns for at_ns, data in self.events() if any(map(_says, data.get("choices", [data])))]

    def answer_ns(self) -> int | None:
        """When the first event of a chat passed that holds text of the answer, not of a thought."""
        answers = (at_ns for at_ns, data in self.events() for choice in data["choices"] if choice["delta"].get("content"))
        return next(answers, None)

    @property
    def tokens(self) -> int:
        """By the last usage that passed; by events where none did."""
        usages = [data.get("response", data).get("usage") for _, data in self.events()]
        told = [usage.get("completion_tokens", usage.get("output_tokens")) for usage in usages if usage]
        return int(told[-1]) if told else len(self.tokens_ns())


def _says(part: dict[str, Any]) -> bool:
    """A choice of chat or completions; an event with a type, of messages or responses, only by its delta."""
    delta = part.get("delta", {} if "type" in part else part)
    return bool(delta) if isinstance(delta, str) else any(delta.get(key) for key in TEXTS)


class _Passing:
    """What passes on one connection, in requests and answers that take turns."""

    def __init__(self, exchanges: list[Exchange], before: Callable[[Exchange], None]) -> None:
        self.exchanges = exchanges
        self.before = before
        self.current = Exchange(reads=[(0, b"")])

    def asked(self, at_ns: int, data: bytes) -> None:
        if self.current.reads:
            self.current = Exchange()
            self.exchanges.append(self.current)
        self.current.request += data
        self.current.asked_ns = at_ns
        self.before(self.current)

    def answered(self, at_ns: int, data: bytes) -> None:
        self.current.reads.append((at_ns, data))


@contextmanager
def watching(url: str, at_first: Callable[[], None] = lambda: None) -> Iterator[tuple[str, list[Exchange]]]:
    """The URL to sweep instead, and what passes there. `at_first` is called before the first request after preflight goes on."""
    host, _, port = urlsplit(url).netloc.rpartition(":")
    exchanges: list[Exchange] = []
    threads: list[threading.Thread] = []
    lock, begun = threading.Lock(), threading.Event()

    def before(exchange: Exchange) -> None:
        with lock:
            if not begun.is_set() and exchange.number is not None:
                at_first()
                begun.set()

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((host, int(port)))
            except OSError:  # as refused as the client is then
                client.close()
                continue
            passing = _Passing(exchanges, before)
            for source, sink, note in ((client, server, passing.asked), (server, client, passing.answered)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                start(_hand_on, source, sink, note)

    def start(work: Callable[..., None], *arguments: Any) -> None:
        threads.append(threading.Thread(target=work, args=arguments))
        threads[-1].start()

    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        start(accept, listener)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", exchanges
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def _hand_on(source: socket.socket, sink: socket.socket, note: Callable[[int, bytes], None]) -> None:
    with source, suppress(OSError):
        while data := source.recv(65_536):
            note(time.monotonic_ns(), data)
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
