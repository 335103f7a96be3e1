"""Anthropic's messages: `POST /v1/messages`. Events are named; the name stands in the data as `type`, too."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, simulated, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "messages"
PATH = "/messages"
TRAITS = Traits(optional=("ignore_eos", "min_tokens"), skips_unknown=True)

FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
_STOP_REASON = {"stop": "end_turn", "length": "max_tokens"}


class WireUsage(Wire, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class Block(Wire, gc=False):
    text: str | None = None
    thinking: str | None = None
    name: str | None = None


class Delta(Wire, gc=False):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class Start(Wire, gc=False):
    usage: WireUsage | None = None


class Data(Wire, gc=False):
    """Any event, and the whole answer: it is `message` with its content."""

    type: str | None = None
    message: Start | None = None
    content_block: Block | None = None
    delta: Delta | None = None
    usage: WireUsage | None = None
    error: Any = None
    content: list[Block] | None = None
    stop_reason: str | None = None


_decode = wire.decoder(Data)


def encode(ask: Ask) -> bytes:
    body: dict[str, Any] = {"model": ask.model, "max_tokens": ask.osl, "stream": ask.stream}
    messages = [{"role": "user", "content": ask.prompt}]
    return wire.body_of(ask, body | wire.extensions(ask) | {"messages": messages})


def decode(data: bytes) -> Event:
    said = wire.parse(_decode, data)
    if isinstance(said, Event):
        return said
    if said.error is not None or said.type == "error":
        return wire.event_of(error=said.error or "error")
    match said.type:
        case "content_block_delta" if said.delta is not None:
            answers = bool(said.delta.text or said.delta.partial_json)
            return wire.event_of(answers or bool(said.delta.thinking), answers)
        case "content_block_start" if said.content_block is not None:
            return _block_event([said.content_block])
        case "message_start" if said.message is not None:
            # Output tokens are a placeholder here, on Anthropic's own servers 1 before any token.
            return wire.event_of(usage=_usage(said.message.usage, output=False))
        case "message_delta":
            stop = said.delta.stop_reason if said.delta is not None else None
            return wire.event_of(usage=_usage(said.usage), finish=_finish(stop))
        case "message_stop":
            return wire.DONE
    return wire.NOTHING


def decode_whole(data: bytes) -> Event:
    said = wire.parse(_decode, data)
    if isinstance(said, Event) or said.error is not None:
        return decode(data)
    event = _block_event(said.content or [])
    return wire.event_of(event.token, event.answer, usage=_usage(said.usage), finish=_finish(said.stop_reason))


def _block_event(blocks: list[Block]) -> Event:
    answers = any(block.text or block.name for block in blocks)
    return wire.event_of(answers or any(block.thinking for block in blocks), answers)


def _finish(stop_reason: str | None) -> str | None:
    return stop_reason and FINISH.get(stop_reason, stop_reason)


def _usage(told: WireUsage | None, output: bool = True) -> Usage | None:
    """`input_tokens` leaves out what came from the cache or went into it; None and 0 both mean that it is told elsewhere."""
    if told is None:
        return None
    prompt = sum(count or 0 for count in (told.input_tokens, told.cache_read_input_tokens, told.cache_creation_input_tokens))
    usage = Usage(
        prompt_tokens=prompt or None,
        completion_tokens=told.output_tokens if output else None,
        cached_tokens=told.cache_read_input_tokens,
    )
    return usage if usage != Usage() else None


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Message(Wire, gc=False):
    content: str | list[Block] | None = None


class Request(Wire, gc=False):
    model: str | None = None
    system: str | list[Block] | None = None
    messages: list[Message] | None = None
    max_tokens: int | None = None
    stream: bool | None = None
    ignore_eos: bool | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.messages:
        raise ValueError("messages must hold at least one message")
    texts = [simulated.text(request.system), *(simulated.text(message.content) for message in request.messages)]
    return SimAsk(
        prompt="\n".join(filter(None, texts)),
        osl=simulated.length(request.max_tokens, 0, "max_tokens"),
        model=request.model,
        stream=bool(request.stream),
        include_usage=True,
        ignore_eos=bool(request.ignore_eos),
    )


def opening(reply_id: str, model: str) -> list[Frame]:
    message = _message(reply_id, model, [], None, Usage())
    return [
        simulated.named("message_start", message=message),
        simulated.named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ]


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    """This API has neither usage nor ids in its deltas; reasoning stands in the one block that `opening` began."""
    delta = {"type": "thinking_delta", "thinking": said.text} if said.reasoning else {"type": "text_delta", "text": said.text}
    return simulated.named("content_block_delta", index=0, delta=delta)


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    delta = {"stop_reason": _STOP_REASON.get(finish, finish), "stop_sequence": None}
    return [
        simulated.named("content_block_stop", index=0),
        simulated.named("message_delta", delta=delta, **({} if usage is None else {"usage": _usage_json(usage)})),
        simulated.named("message_stop"),
    ]


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    return wire.encode_json(_message(reply_id, model, [{"type": "text", "text": text}], finish, usage))


def failure(message: str, code: int) -> bytes:
    kind = "invalid_request_error" if code < 500 else "api_error"
    return wire.encode_json({"type": "error", "error": {"type": kind, "message": message}})


def _message(reply_id: str, model: str, content: list[dict[str, str]], finish: str | None, usage: Usage) -> dict[str, Any]:
    return {
        "id": reply_id,
        "type": "message",
        "role": "assistant",
        "content": content,
        "model": model,
        "stop_reason": finish and _STOP_REASON.get(finish, finish),
        "stop_sequence": None,
        "usage": _usage_json(usage),
    }


def _usage_json(usage: Usage) -> dict[str, int]:
    cached = usage.cached_tokens or 0
    told = {"input_tokens": (usage.prompt_tokens or cached) - cached, "output_tokens": usage.completion_tokens or 0}
    return told if usage.cached_tokens is None else {**told, "cache_read_input_tokens": cached}
