"""What chat and text completions share: usage, choices, request options, the simulator's frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.dialect import fault
from sweep.dialect.wire import Wire, encode_json, event_of, extensions
from sweep.model import Ask, Event, SimAsk, Usage

# --- the client's side -------------------------------------------------------------------------------------------


class PromptDetails(Wire, gc=False):
    cached_tokens: int | None = None


class CompletionDetails(Wire, gc=False):
    reasoning_tokens: int | None = None


class WireUsage(Wire, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


def usage_of(wire: WireUsage | None) -> Usage | None:
    """The noun for a usage object; None when it holds no count."""
    if wire is None or (wire.prompt_tokens is None and wire.completion_tokens is None):
        return None
    prompt, completion = wire.prompt_tokens_details, wire.completion_tokens_details
    reasoning = completion.reasoning_tokens if completion else None
    return Usage(
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        reasoning_tokens=wire.reasoning_tokens if reasoning is None else reasoning,
        cached_tokens=prompt.cached_tokens if prompt else None,
    )


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
    osl = request.max_completion_tokens if request.max_tokens is None else request.max_tokens
    if osl is not None and osl < 1:
        raise ValueError("max_tokens must be at least 1")
    shown = request.stream_options or StreamOptions()
    return SimAsk(
        prompt=prompt,
        osl=default_osl if osl is None else osl,
        model=request.model,
        stream=bool(request.stream),
        include_usage=bool(shown.include_usage),
        continuous_usage=bool(shown.continuous_usage_stats),
        ignore_eos=bool(request.ignore_eos),
        return_token_ids=bool(request.return_token_ids),
    )


def usage_json(usage: Usage) -> dict[str, Any]:
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    told: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    if usage.cached_tokens is not None:
        told["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        told["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return told


def reply(kind: str, reply_id: str, model: str, choices: list[Mapping[str, Any]], usage: Usage | None) -> bytes:
    """One JSON object of the API. `created` is 0: the simulator's replies do not depend on the date."""
    body: dict[str, Any] = {"id": reply_id, "object": kind, "created": 0, "model": model, "choices": choices}
    if usage is not None:
        body["usage"] = usage_json(usage)
    return encode_json(body)


def placeholder_ids(tokens: int, asked: bool) -> dict[str, list[int]]:
    """`token_ids` of a choice where the client asked for them; only their number means anything."""
    return {"token_ids": [0] * tokens} if asked else {}


def failure(message: str, code: int) -> bytes:
    kind = "invalid_request_error" if code < 500 else "server_error"
    return encode_json({"error": {"message": message, "type": kind, "param": None, "code": code}})
