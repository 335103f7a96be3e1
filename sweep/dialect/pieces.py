"""What the APIs share whose answer comes in one piece: no stream, and work that is counted in items of the request."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec

from sweep.dialect import openai, wire
from sweep.dialect.openai import WireUsage
from sweep.dialect.wire import Wire
from sweep.model import Event, Usage

# --- the client's side -------------------------------------------------------------------------------------------


class Answer(Wire, gc=False):
    usage: WireUsage | None = None
    error: Any = None


def split(prompt: str, count: int) -> list[str]:
    """`prompt` cut into `count` texts of much the same number of words; where it has fewer words, some stand in several."""
    words = prompt.split()
    cuts = [len(words) * place // count for place in range(count + 1)] if count > 0 else []
    texts = [" ".join(words[begin:end]) for begin, end in pairwise(cuts)]
    return [text or words[place % len(words)] if words else "" for place, text in enumerate(texts)]


def counted(items: list[msgspec.Raw] | None, answer: Answer, body: bytes) -> Event:
    """The event of an answer that is a list; its usage leaves out how many there are, and may tell the prompt as the total."""
    told = answer.usage or WireUsage()
    if items is None:
        return openai.choiceless(body, answer.usage, answer.error)
    prompt = told.total_tokens if told.prompt_tokens is None else told.prompt_tokens
    return arrived(bool(items), Usage(prompt_tokens=prompt, completion_tokens=len(items)), answer.error)


def arrived(some: bool, usage: Usage | None, error: Any) -> Event:
    """The one event of an answer that holds something or nothing."""
    return wire.event_of(some, some, usage=usage, finish="stop", error=error)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


def reply(reply_id: str, model: str, text: str, usage: Usage, name: str, item: Callable[[int], dict[str, Any]]) -> bytes:
    """A list under `name` with as many items as were asked for, by their places; without `text` it is empty."""
    items = list(map(item, range((usage.completion_tokens or 0) if text else 0)))
    prompt = usage.prompt_tokens or 0
    told = {"prompt_tokens": prompt, "total_tokens": prompt}
    return wire.encode_json({"id": reply_id, "object": "list", "model": model, name: items, "usage": told})
