"""Reranking as Jina, Cohere, vLLM and llama.cpp offer it: `POST /v1/rerank`, one query and documents to be scored against it."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Traits, openai, pieces, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, Usage

NAME = "rerank"
PATH = "/rerank"
TRAITS = Traits(unit="documents", streams=False, optional=())
QUERY_WORDS = 12


class Answer(pieces.Answer, gc=False):
    results: list[msgspec.Raw] | None = None


_decode = wire.decoder(Answer)


def encode(ask: Ask) -> bytes:
    """The prompt's first words are the query, at most half of them; the rest is cut into documents."""
    words = ask.prompt.split()
    cut = min(QUERY_WORDS, -(-len(words) // 2))
    documents = pieces.split(" ".join(words[cut:] or words), ask.osl)
    return wire.body_of(ask, {"model": ask.model, "query": " ".join(words[:cut]), "documents": documents})


def decode(data: bytes) -> Event:
    answer = wire.parse(_decode, data)
    return answer if isinstance(answer, Event) else pieces.counted(answer.results, answer, data)


decode_whole = decode

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
    return pieces.reply(reply_id, model, text, usage, "results", _result)


def _result(index: int) -> dict[str, Any]:
    return {"index": index, "relevance_score": 1 / (index + 1)}


failure = openai.failure
