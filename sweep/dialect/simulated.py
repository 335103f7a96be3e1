"""What several dialects share on the simulated endpoint's side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sweep.dialect import Frame, wire
from sweep.model import Usage


class Part(Protocol):
    """Of a message's content."""

    @property
    def text(self) -> str | None: ...


def text(content: str | Sequence[Part] | None) -> str:
    """The words of a message, whether it is a text or parts of which some hold text."""
    parts = [content] if content is None or isinstance(content, str) else [part.text for part in content]
    return "\n".join(filter(None, parts))


def length(asked: int | None, default: int, name: str) -> int:
    """The tokens asked for. ValueError when they are none."""
    osl = default if asked is None else asked
    if osl < 1:
        raise ValueError(f"{name} must be at least 1")
    return osl


def named(kind: str, **fields: Any) -> Frame:
    """An event with a name, which the data repeats as `type`."""
    return kind, wire.encode_json({"type": kind, **fields})


def usage_json(usage: Usage, prompt: str = "prompt", completion: str = "completion") -> dict[str, Any]:
    """Counts as OpenAI's APIs tell them, which differ in what they call the two sides."""
    read, made = usage.prompt_tokens or 0, usage.completion_tokens or 0
    told: dict[str, Any] = {f"{prompt}_tokens": read, f"{completion}_tokens": made, "total_tokens": read + made}
    if usage.cached_tokens is not None:
        told[f"{prompt}_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        told[f"{completion}_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return told


def no_opening(reply_id: str, model: str) -> list[Frame]:
    return []
