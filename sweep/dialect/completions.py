"""Text completions: `POST /v1/completions`."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, simulated, wire
from sweep.dialect.openai import WireRequest, WireUsage
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "completions"
PATH = "/completions"
TRAITS = Traits(inputs=("text", "ids"))
DEFAULT_OSL = 16

_KIND = "text_completion"


class Choice(Wire, gc=False):
    text: str | None = None
    finish_reason: str | None = None
    token_ids: list[int] | None = None


class Chunk(Wire, gc=False):
    choices: list[Choice] | None = None
    usage: WireUsage | None = None
    error: Any = None


_decode = wire.decoder(Chunk)


def encode(ask: Ask) -> bytes:
    body = openai.options(ask)
    body["prompt"] = ask.prompt if ask.ids is None else ask.ids
    return wire.body_of(ask, body)


def decode(data: bytes) -> Event:
    chunk = wire.parse(_decode, data)
    if isinstance(chunk, Event):
        return chunk
    choices = chunk.choices
    if not choices:
        return openai.choiceless(data, chunk.usage, chunk.error)
    if len(choices) == 1 and chunk.usage is None and chunk.error is None:  # nearly every event: one piece of text
        choice = choices[0]
        if choice.text and not (choice.finish_reason or choice.token_ids):
            return wire.ANSWER_TOKEN
    token = False
    token_ids = 0
    finish = None
    for choice in choices:
        token |= bool(choice.text)
        token_ids += len(choice.token_ids or ())
        finish = choice.finish_reason or finish
    token |= token_ids > 0
    return wire.event_of(
        token, token, token_ids=token_ids or None, usage=openai.usage_of(chunk.usage), finish=finish, error=chunk.error
    )


decode_whole = decode


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Request(WireRequest, gc=False):
    prompt: str | list[str | int | list[int]] | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.prompt:
        raise ValueError("prompt must not be empty")
    return openai.sim_ask(request, _text(request.prompt), DEFAULT_OSL)


def _text(prompt: str | int | list[Any]) -> str:
    """Token ids stand as one word each."""
    return prompt if isinstance(prompt, str) else str(prompt) if isinstance(prompt, int) else " ".join(map(_text, prompt))


opening = simulated.no_opening


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    """This API has one channel: `reasoning` is text like any other."""
    ids = openai.placeholder_ids(said.tokens, said.with_ids)
    choice = {"index": 0, "text": said.text, "logprobs": None, "finish_reason": None, **ids}
    return None, openai.reply(_KIND, reply_id, model, [choice], said.usage)


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    last = {"index": 0, "text": "", "logprobs": None, "finish_reason": finish}
    return openai.closing(_KIND, reply_id, model, last, usage)


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
    return openai.reply(_KIND, reply_id, model, [choice], usage)


failure = openai.failure
