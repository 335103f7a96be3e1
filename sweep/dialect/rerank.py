"""Reranking as Jina, Cohere, vLLM and llama.cpp offer it: `POST /v1/rerank`, one query and documents to be scored against it."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, pieces, wire
from sweep.dialect.openai import WireUsage
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "rerank"
PATH = "/rerank"
TRAITS = Traits(unit="documents", streams=False, optional=())
QUERY_WORDS = 12


class Result(Wire, gc=False):
    index: int | None = None


class Answer(Wire, gc=False):
    results: list[Result] | None = None
    usage: WireUsage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(Answer).decode


def encode(ask: Ask) -> bytes:
    """The prompt's first words are the query, at most half of them; the rest is cut into documents."""
    words = ask.prompt.split()
    cut = min(QUERY_WORDS, -(-len(words) // 2))
    documents = pieces.split(" ".join(words[cut:] or words), ask.osl)
    return wire.encode_json({"model": ask.model, "query": " ".join(words[:cut]), "documents": documents})


def decode_whole(body: bytes) -> Event:
    answer = wire.parse(_decode, body)
    if isinstance(answer, Event):
        return answer
    if answer.results is None:
        return msgspec.structs.replace(openai.choiceless(body, answer.usage, answer.error), done=True)
    told = answer.usage or WireUsage()
    prompt = told.total_tokens if told.prompt_tokens is None else told.prompt_tokens
    some = bool(answer.results)
    usage = Usage(prompt_tokens=prompt, completion_tokens=len(answer.results))
    return wire.event_of(some, some, usage=usage, finish="stop", error=answer.error, done=True)


def decode(data: bytes) -> Event:
    return decode_whole(data)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Document(Wire, gc=False):
    text: str | None = None


class Request(Wire, gc=False):
    model: str | None = None
    query: str | None = None
    documents: list[str | Document] | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.query or not request.documents:
        raise ValueError("query and documents must not be empty")
    texts = [document if isinstance(document, str) else document.text or "" for document in request.documents]
    return SimAsk(prompt="\n".join([request.query, *texts]), osl=len(texts), model=request.model, stream=False)


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    count = (usage.completion_tokens or 0) if text else 0
    prompt = usage.prompt_tokens or 0
    results = [{"index": index, "relevance_score": 1 / (index + 1)} for index in range(count)]
    told = {"prompt_tokens": prompt, "total_tokens": prompt}
    return wire.encode_json({"id": reply_id, "model": model, "results": results, "usage": told})


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    return None, whole(reply_id, model, said.text, "stop", said.usage or Usage(completion_tokens=said.tokens))


opening = pieces.opening
closing = pieces.closing
failure = openai.failure
