"""OpenAI's responses: `POST /v1/responses`. Events are named; the name stands in the data as `type`, too."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, simulated, wire
from sweep.dialect.wire import Details, Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "responses"
PATH = "/responses"
TRAITS = Traits(optional=("ignore_eos", "min_tokens"), skips_unknown=True)
DEFAULT_OSL = 256

_FAILED = frozenset({"failed", "cancelled"})
_ENDS = frozenset({"response.completed", "response.incomplete", *(f"response.{status}" for status in _FAILED)})
_FINISH = {"max_output_tokens": "length"}


class WireUsage(Wire, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: Details | None = None
    output_tokens_details: Details | None = None


class Incomplete(Wire, gc=False):
    reason: str | None = None


class Part(Wire, gc=False):
    text: str | None = None
    refusal: str | None = None


class Item(Wire, gc=False):
    """Part of an answer: a message, reasoning, or a call of a function, which is what has a name."""

    type: str | None = None
    name: str | None = None
    content: list[Part] | None = None
    summary: list[Part] | None = None


class Response(Wire, gc=False):
    status: str | None = None
    incomplete_details: Incomplete | None = None
    output: list[Item] | None = None
    usage: WireUsage | None = None
    error: Any = None


class Data(Wire, gc=False):
    type: str | None = None
    delta: Any = None
    item: Item | None = None
    response: Response | None = None
    error: Any = None
    message: str | None = None


_decode = wire.decoder(Data)
_decode_response = wire.decoder(Response)


def encode(ask: Ask) -> bytes:
    body: dict[str, Any] = {"model": ask.model, "max_output_tokens": ask.osl, "stream": ask.stream}
    return wire.body_of(ask, body | wire.extensions(ask) | {"input": ask.prompt})


def decode(data: bytes) -> Event:
    said = wire.parse(_decode, data)
    if isinstance(said, Event):
        return said
    kind = said.type or ""
    if said.error is not None or kind == "error":
        return wire.event_of(error=said.error or said.message or "error")
    if kind.endswith(".delta"):
        token = bool(said.delta)
        return wire.event_of(token, token and not kind.startswith("response.reasoning"))
    if kind == "response.output_item.added" and said.item is not None:
        return wire.event_of(bool(said.item.name), bool(said.item.name))
    if kind in _ENDS:
        return _ending(said.response or Response(), kind.removeprefix("response."))
    return wire.NOTHING


def decode_whole(data: bytes) -> Event:
    response = wire.parse(_decode_response, data)
    if isinstance(response, Event):
        return response
    items = response.output or []
    answers = any(item.name or (item.type != "reasoning" and _says(item)) for item in items)
    end = _ending(response, response.status)
    return msgspec.structs.replace(end, token=answers or any(map(_says, items)), answer=answers)


def _ending(response: Response, status: str | None) -> Event:
    """The event that ends a stream: usage, finish reason, or why it failed."""
    reason = response.incomplete_details.reason if response.incomplete_details is not None else None
    finish = _FINISH.get(reason, reason) if reason else "stop" if status == "completed" else status
    error = response.error if response.error is not None else f"response {status}" if status in _FAILED else None
    return wire.event_of(usage=_usage(response.usage), finish=finish, error=error, done=True)


def _says(item: Item) -> bool:
    return any(part.text or part.refusal for part in [*(item.content or ()), *(item.summary or ())])


def _usage(told: WireUsage | None) -> Usage | None:
    if told is None:
        return None
    read, made = told.input_tokens_details or Details(), told.output_tokens_details or Details()
    return wire.usage_of(told.input_tokens, told.output_tokens, read.cached_tokens, made.reasoning_tokens)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class InputItem(Wire, gc=False):
    content: str | list[Part] | None = None


class Request(Wire, gc=False):
    model: str | None = None
    instructions: str | None = None
    input: str | list[InputItem] | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    ignore_eos: bool | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.input:
        raise ValueError("input must not be empty")
    items = [request.input] if isinstance(request.input, str) else [simulated.text(item.content) for item in request.input]
    return SimAsk(
        prompt="\n".join(filter(None, [request.instructions, *items])),
        osl=simulated.length(request.max_output_tokens, DEFAULT_OSL, "max_output_tokens"),
        model=request.model,
        stream=bool(request.stream),
        include_usage=True,
        ignore_eos=bool(request.ignore_eos),
    )


def opening(reply_id: str, model: str) -> list[Frame]:
    item = {"id": f"msg-{reply_id}", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    return [
        simulated.named("response.created", response=_response(reply_id, model, [], None, None)),
        simulated.named("response.output_item.added", output_index=0, item=item),
        simulated.named(
            "response.content_part.added", output_index=0, content_index=0, part={"type": "output_text", "text": ""}
        ),
    ]


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    """This API has neither usage nor ids in its deltas."""
    kind = "response.reasoning_text.delta" if said.reasoning else "response.output_text.delta"
    return simulated.named(kind, item_id=f"msg-{reply_id}", output_index=0, content_index=0, delta=said.text)


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    kind = "response.incomplete" if finish == "length" else "response.completed"
    return [simulated.named(kind, response=_response(reply_id, model, [], finish, usage))]


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    return wire.encode_json(_response(reply_id, model, [{"type": "output_text", "text": text}], finish, usage))


failure = openai.failure


def _response(
    reply_id: str, model: str, content: list[dict[str, str]], finish: str | None, usage: Usage | None
) -> dict[str, Any]:
    cut = finish == "length"
    return {
        "id": reply_id,
        "object": "response",
        "created_at": 0,
        "status": "in_progress" if finish is None else "incomplete" if cut else "completed",
        "model": model,
        "output": [{"type": "message", "role": "assistant", "content": content}] if content else [],
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "usage": None if usage is None else simulated.usage_json(usage, "input", "output"),
    }
