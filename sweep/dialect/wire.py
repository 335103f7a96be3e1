"""What every dialect's reading of the wire shares: the base of its structs, common events, and how to say it is not understood."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from sweep.dialect import fault
from sweep.model import Ask, Event, Usage

ANSWER_TOKEN = Event(token=True, answer=True)
REASONING_TOKEN = Event(token=True)
NOTHING = Event()
DONE = Event(done=True)
DONE_DATA = b"[DONE]"

FAILED_FINISH = frozenset({"error", "abort"})  # generation ended by the server, not by the model

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

T = TypeVar("T")

encode_json = msgspec.json.Encoder().encode


class Wire(msgspec.Struct, gc=False):
    """Base of what is read off the wire: every field may be absent or null, unknown fields are skipped."""


class Details(Wire, gc=False):
    """Of either side's count in a usage."""

    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


def event_of(
    token: bool = False,
    answer: bool = False,
    *,
    token_ids: int | None = None,
    usage: Usage | None = None,
    finish: str | None = None,
    error: Any = None,
    done: bool = False,
) -> Event:
    """One event from its parts. A bare token is a shared constant: most events are that."""
    if error is False or error == "":
        error = None
    if error is None and finish in FAILED_FINISH:
        error = f"finish_reason {finish}"
    if not (usage or finish or token_ids or done) and error is None:
        return (ANSWER_TOKEN if answer else REASONING_TOKEN) if token else NOTHING
    return Event(
        token=token,
        answer=answer,
        token_ids=token_ids,
        usage=usage,
        finish=finish or None,
        error=None if error is None else fault.describe(error),
        done=done,
    )


def usage_of(
    prompt: int | None, completion: int | None, cached: int | None = None, reasoning: int | None = None
) -> Usage | None:
    """The noun for a server's counts; None where it told neither of the first two."""
    if prompt is None and completion is None:
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, reasoning_tokens=reasoning)


def decoder(kind: type[T]) -> Callable[[bytes], T]:
    """Reads JSON as `kind`. A number may be written as text, as some gateways do; half a token stays an error."""
    return msgspec.json.Decoder(kind, strict=False).decode


def parse(decode: Callable[[bytes], T], data: bytes) -> T | Event:
    """What `decode` makes of the data of an event; an `Event` when it is no JSON object. ValueError when it is not understood."""
    try:
        return decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        mended = _SURROGATE.sub(b"?", data)  # half an emoji is valid JSON, yet no decoder of UTF-8 takes it
        return _unusual(data, error) if mended == data else parse(decode, mended)


def request(decode: Callable[[bytes], T], body: bytes) -> T:
    """What `decode` makes of a request. ValueError when it is malformed."""
    try:
        return decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _not_understood(error) from None


def extensions(ask: Ask) -> dict[str, Any]:
    """Request fields of open servers that no standard names, as far as `ask.fields` lists them."""
    known = {"ignore_eos": True, "min_tokens": ask.osl, "return_token_ids": True, "cache_prompt": False}
    return {name: value for name, value in known.items() if name in ask.fields}


def body_of(ask: Ask, own: dict[str, Any]) -> bytes:
    """A request's body: our `own` fields and the user's; of an object that both have, the members of both."""
    if not ask.extra:
        return encode_json(own)
    shared = {name: ask.extra[name] | value for name, value in own.items() if _is_object(value, ask.extra.get(name))}
    return encode_json(ask.extra | own | shared)


def _is_object(*values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)


def _unusual(data: bytes, error: Exception) -> Event:
    """Data that is no JSON object: the end mark, or nothing at all. ValueError for anything else."""
    mark = data.strip()
    if mark == DONE_DATA:
        return DONE
    if not mark:
        return NOTHING
    raise _not_understood(error)


def _not_understood(error: Exception) -> ValueError:
    """The protocol's one way to say so; decoders' messages name places, not content."""
    return ValueError(f"not understood: {error}"[:200])
