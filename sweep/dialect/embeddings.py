"""Embeddings: `POST /v1/embeddings`. A request holds as many texts as it is asked for vectors."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Traits, openai, pieces, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, Usage

NAME = "embeddings"
PATH = "/embeddings"
TRAITS = Traits(unit="vectors", streams=False, optional=("encoding_format",))
DIMENSIONS = 4


class Answer(pieces.Answer, gc=False):
    """The vectors are counted, not read."""

    data: list[msgspec.Raw] | None = None


_decode = wire.decoder(Answer)


def encode(ask: Ask) -> bytes:
    body: dict[str, Any] = {"model": ask.model, "input": pieces.split(ask.prompt, ask.osl)}
    if "encoding_format" in ask.fields:
        body["encoding_format"] = "base64"  # as the usual client libraries do: a third of the bytes
    return wire.body_of(ask, body)


def decode(data: bytes) -> Event:
    answer = wire.parse(_decode, data)
    return answer if isinstance(answer, Event) else pieces.counted(answer.data, answer, data)


decode_whole = decode

# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Request(Wire, gc=False):
    model: str | None = None
    input: str | list[str] | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    texts = [request.input] if isinstance(request.input, str) else request.input
    if not texts or not all(texts):
        raise ValueError("input must not be empty")
    return SimAsk(prompt="\n".join(texts), osl=len(texts), model=request.model, stream=False)


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    return pieces.reply(reply_id, model, text, usage, "data", _vector)


def _vector(index: int) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": [0.5] * DIMENSIONS}


failure = openai.failure
