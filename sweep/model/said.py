"""What is said on the wire, before a dialect encodes it and after it decodes it."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.model.noun import Noun


class Ask(Noun, frozen=True, kw_only=True):
    """One request, before a dialect encodes it. `fields` are the optional fields the server is known to accept."""

    model: str
    prompt: str
    osl: int  # in the dialect's unit of work
    stream: bool = True
    fields: tuple[str, ...] = ()
    images: tuple[bytes, ...] = ()  # PNG
    audio: bytes | None = None  # WAV of `osl` seconds
    ids: list[int] | None = None  # tokens in place of the prompt's text
    extra: dict[str, Any] = msgspec.field(default_factory=dict)  # fields of the user's own


class Usage(Noun, frozen=True, kw_only=True):
    """`completion_tokens` are in the dialect's unit of work."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class Event(Noun, frozen=True, kw_only=True):
    """What one server-sent event said. `token`: it carries at least one token by its own shape (text, reasoning, tool call, ids)."""

    token: bool = False
    answer: bool = False  # the token belongs to the answer, not to the reasoning
    token_ids: int | None = None  # how many token ids it lists
    usage: Usage | None = None
    finish: str | None = None
    error: str | None = None
    done: bool = False  # the dialect's end mark


class SimAsk(Noun, frozen=True, kw_only=True):
    """A request as the simulated endpoint reads it."""

    prompt: str
    osl: int
    media_tokens: int = 0  # what pictures beside the prompt weigh
    model: str | None = None
    stream: bool = True
    include_usage: bool = False
    continuous_usage: bool = False
    ignore_eos: bool = False
    return_token_ids: bool = False


class SimChunk(Noun, frozen=True, kw_only=True):
    """What one event of the simulated endpoint's answer carries."""

    text: str
    tokens: int = 1
    usage: Usage | None = None  # so far, where the client asked for it in every event
    reasoning: bool = False
    with_ids: bool = False  # lists the tokens' ids
