"""What chat and text completions share: usage, choices, request options, the simulator's frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.dialect import Frame, fault, simulated, wire
from sweep.dialect.wire import Details, Wire, encode_json, event_of, extensions
from sweep.model import Ask, Event, SimAsk, Usage

# --- the client's side -------------------------------------------------------------------------------------------


class WireUsage(Wire, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None


def usage_of(told: WireUsage | None) -> Usage | None:
    if told is None:
        return None
    read, made = told.prompt_tokens_details or Details(), told.completion_tokens_details or Details()
    reasoning = told.reasoning_tokens if made.reasoning_tokens is None else made.reasoning_tokens
    return wire.usage_of(told.prompt_tokens, told.completion_tokens, read.cached_tokens, reasoning)


def choiceless(data: bytes, usage: WireUsage | None, error: Any) -> Event:
    """An object without choices: usage, an error in one of its shapes, or nothing of interest."""
    if usage is None and error is None:
        said = fault.parse(data)
        marked = "error" in (said.get("object"), said.get("type")) or "detail" in said
        error = said if marked or ("code" in said and said.keys() & {"message", "msg"}) else None
    return event_of(usage=usage_of(usage), error=error)


def options(ask: Ask) -> dict[str, Any]:
    """Every request field but the prompt itself."""
    length = "max_completion_tokens" if "max_completion_tokens" in ask.fields else "max_tokens"
    body: dict[str, Any] = {"model": ask.model, length: ask.osl, "stream": ask.stream}
    asked = {"stream_options": "include_usage", "continuous_usage": "continuous_usage_stats"}
    usage = {option: True for name, option in asked.items() if name in ask.fields}
    if ask.stream and usage:
        body["stream_options"] = usage
    return body | extensions(ask)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class StreamOptions(Wire, gc=False):
    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None


class WireRequest(Wire, gc=False):
    model: str | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    ignore_eos: bool | None = None
    return_token_ids: bool | None = None


def sim_ask(request: WireRequest, prompt: str, default_osl: int) -> SimAsk:
    """The noun for a request. ValueError when it asks for no tokens."""
    asked = request.max_completion_tokens if request.max_tokens is None else request.max_tokens
    shown = request.stream_options or StreamOptions()
    return SimAsk(
        prompt=prompt,
        osl=simulated.length(asked, default_osl, "max_tokens"),
        model=request.model,
        stream=bool(request.stream),
        include_usage=bool(shown.include_usage),
        continuous_usage=bool(shown.continuous_usage_stats),
        ignore_eos=bool(request.ignore_eos),
        return_token_ids=bool(request.return_token_ids),
    )


def reply(kind: str, reply_id: str, model: str, choices: list[Mapping[str, Any]], usage: Usage | None) -> bytes:
    """One JSON object of the API. `created` is 0: the simulator's replies do not depend on the date."""
    body: dict[str, Any] = {"id": reply_id, "object": kind, "created": 0, "model": model, "choices": choices}
    if usage is not None:
        body["usage"] = simulated.usage_json(usage)
    return encode_json(body)


def closing(kind: str, reply_id: str, model: str, last: Mapping[str, Any], usage: Usage | None) -> list[Frame]:
    """The choice that tells why the answer ends, usage where it was asked for, the end mark."""
    datas = [reply(kind, reply_id, model, [last], None), *([] if usage is None else [reply(kind, reply_id, model, [], usage)])]
    return [(None, data) for data in (*datas, wire.DONE_DATA)]


def placeholder_ids(tokens: int, asked: bool) -> dict[str, list[int]]:
    """`token_ids` of a choice where the client asked for them; only their number means anything."""
    return {"token_ids": [0] * tokens} if asked else {}


def failure(message: str, code: int) -> bytes:
    kind = "invalid_request_error" if code < 500 else "server_error"
    return encode_json({"error": {"message": message, "type": kind, "param": None, "code": code}})
