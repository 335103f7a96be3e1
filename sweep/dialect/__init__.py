"""How an API is spoken: one module a dialect, found by scanning this package.

A module is a dialect when it defines `NAME`; it then satisfies `Dialect`. Adding an API is adding one file.
The client calls the first half of the protocol, the simulated endpoint the second; one contract test holds both together.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

from sweep.errors import UsageError
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

Frame = tuple[str | None, bytes]
"""One server-sent event before framing: (event name, data)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets an API apart from the usual one, which streams tokens under /v1 and takes text as JSON."""

    unit: str = "tokens"  # of work: what an answer's length is counted in
    inputs: tuple[str, ...] = ("text",)  # of text, ids (tokens in place of text), images, audio
    streams: bool = True  # answers come as events; else in one piece
    ends_with_done: bool = True  # a whole stream carries an event that decodes to `done`
    at_root: bool = False  # the path hangs on the server's root, not on its /v1
    content_type: str = "application/json"  # of the request
    optional: tuple[str, ...] = ("stream_options", "ignore_eos", "min_tokens")  # fields worth trying; a server may refuse them
    skips_unknown: bool = False  # servers skip fields they do not know: that one is taken proves nothing


class Dialect(Protocol):
    """What a dialect module defines."""

    NAME: str
    PATH: str
    TRAITS: Traits

    # --- the client's side

    def encode(self, ask: Ask) -> bytes:
        """The request body. Sampling stays the server's default; optional fields are sent only when `ask.fields` names them."""

    def decode(self, data: bytes) -> Event:
        """What the data of one server-sent event says. ValueError when it cannot be understood."""

    def decode_whole(self, data: bytes) -> Event:
        """What an answer that was not streamed says. ValueError when it cannot be understood."""

    # --- the simulated endpoint's side

    def read(self, body: bytes) -> SimAsk:
        """The request in `body`. ValueError, with a message for the sender, when malformed."""

    def whole(self, reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
        """The answer to a request that did not ask for a stream."""

    def failure(self, message: str, code: int) -> bytes:
        """The body of an HTTP error; inside a stream, the data of an error event."""

    # --- the same, absent where answers never stream

    def opening(self, reply_id: str, model: str) -> list[Frame]:
        """Frames before the first token."""

    def chunk(self, reply_id: str, model: str, said: SimChunk) -> Frame:
        """One event of tokens; what the API has no place for is left out."""

    def closing(self, reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
        """Frames after the last token: finish reason, usage, end mark."""


@cache
def names() -> tuple[str, ...]:
    """Names of every dialect, sorted."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__) if hasattr(_module(info.name), "NAME")))


def get(name: str) -> Dialect:
    """The dialect called `name`. UsageError when there is none."""
    if name not in names():
        raise UsageError(f"unknown dialect {name!r}", hint=f"known dialects: {', '.join(names())}")
    return _module(name)


def _module(name: str) -> Dialect:
    return cast("Dialect", importlib.import_module(f"{__name__}.{name}"))
