"""What chat and text completions share: usage, choices, request options, the simulator's frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from sweep.dialect import fault
from sweep.model import Ask, Event, SimAsk, Usage

ANSWER_TOKEN = Event(token=True, answer=True)
REASONING_TOKEN = Event(token=True)
NOTHING = Event()
DONE = Event(done=True)
DONE_DATA = b"[DONE]"

FAILED_FINISH = frozenset({"error", "abort"})  # generation ended by the server, not by the model

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

encode_json = msgspec.json.Encoder().encode


class Wire(msgspec.Struct, gc=False):
    """Base of what is read off the wire: every field may be absent or null, unknown fields are skipped."""


# --- the client's side -------------------------------------------------------------------------------------------


class PromptDetails(Wire, gc=False):
    cached_tokens: int | None = None


class CompletionDetails(Wire, gc=False):
    reasoning_tokens: int | None = None


class WireUsage(Wire, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
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


def event_of(
    token: bool, answer: bool, token_ids: int | None, usage: WireUsage | None, finish: str | None, error: Any
) -> Event:
    """One event from its parts. A bare token is a shared constant: most events are that."""
    if error is False or error == "":
        error = None
    if error is None and finish in FAILED_FINISH:
        error = f"finish_reason {finish}"
    if not (usage or finish or token_ids) and error is None:
        return (ANSWER_TOKEN if answer else REASONING_TOKEN) if token else NOTHING
    return Event(
        token=token,
        answer=answer,
        token_ids=token_ids,
        usage=usage_of(usage),
        finish=finish or None,
        error=None if error is None else fault.describe(error),
    )


def mend(data: bytes) -> bytes | None:
    """`data` with escaped surrogates replaced, None when it has none. Half an emoji is JSON, yet no decoder of UTF-8 takes it."""
    mended = _SURROGATE.sub(b"?", data)
    return mended if mended != data else None


def unusual(data: bytes, error: Exception) -> Event:
    """Data that is no JSON object: the end mark, or nothing at all. ValueError for anything else."""
    mark = data.strip()
    if mark == DONE_DATA:
        return DONE
    if not mark:
        return NOTHING
    raise not_understood(error)


def choiceless(data: bytes, usage: WireUsage | None, error: Any) -> Event:
    """An object without choices: usage, an error in one of its shapes, or nothing of interest."""
    if usage is None and error is None:
        said = fault.parse(data)
        failed = "error" in (said.get("object"), said.get("type")) or said.keys() & {"detail", "message", "msg"}
        error = said if failed else None
    return event_of(False, False, None, usage, None, error)


def not_understood(error: Exception) -> ValueError:
    """The protocol's one way to say so; decoders' messages name places, not content."""
    return ValueError(f"not understood: {error}"[:200])


def options(ask: Ask) -> dict[str, Any]:
    """Every request field but the prompt itself."""
    fields = ask.fields
    length = "max_completion_tokens" if "max_completion_tokens" in fields else "max_tokens"
    body: dict[str, Any] = {"model": ask.model, length: ask.osl, "stream": ask.stream}
    if ask.stream and "stream_options" in fields:
        body["stream_options"] = {"include_usage": True}
        if "continuous_usage" in fields:
            body["stream_options"]["continuous_usage_stats"] = True
    if "ignore_eos" in fields:
        body["ignore_eos"] = True
    if "min_tokens" in fields:
        body["min_tokens"] = ask.osl
    if "return_token_ids" in fields:
        body["return_token_ids"] = True
    if "cache_prompt" in fields:
        body["cache_prompt"] = False
    return body


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
