"""Embeddings: `POST /v1/embeddings`. A request holds as many texts as it is asked for vectors."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, pieces, wire
from sweep.dialect.openai import WireUsage
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "embeddings"
PATH = "/embeddings"
TRAITS = Traits(unit="vectors", streams=False, optional=("encoding_format",))
DIMENSIONS = 4


class Vector(Wire, gc=False):
    """The numbers themselves are skipped."""

    index: int | None = None


class Answer(Wire, gc=False):
    data: list[Vector] | None = None
    usage: WireUsage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(Answer).decode


def encode(ask: Ask) -> bytes:
    body: dict[str, Any] = {"model": ask.model, "input": pieces.split(ask.prompt, ask.osl)}
    if "encoding_format" in ask.fields:
        body["encoding_format"] = "base64"  # as the usual client libraries do: a third of the bytes
    return wire.encode_json(body)


def decode_whole(body: bytes) -> Event:
    answer = wire.parse(_decode, body)
    if isinstance(answer, Event):
        return answer
    if answer.data is None:
        return msgspec.structs.replace(openai.choiceless(body, answer.usage, answer.error), done=True)
    told = answer.usage or WireUsage()
    usage = Usage(prompt_tokens=told.prompt_tokens, completion_tokens=len(answer.data))
    some = bool(answer.data)
    return wire.event_of(some, some, usage=usage, finish="stop", error=answer.error, done=True)


def decode(data: bytes) -> Event:
    return decode_whole(data)


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
    count = (usage.completion_tokens or 0) if text else 0
    prompt = usage.prompt_tokens or 0
    vectors = [{"object": "embedding", "index": index, "embedding": [0.5] * DIMENSIONS} for index in range(count)]
    told = {"prompt_tokens": prompt, "total_tokens": prompt}
    return wire.encode_json({"id": reply_id, "object": "list", "model": model, "data": vectors, "usage": told})


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    return None, whole(reply_id, model, said.text, "stop", said.usage or Usage(completion_tokens=said.tokens))


opening = pieces.opening
closing = pieces.closing
failure = openai.failure
