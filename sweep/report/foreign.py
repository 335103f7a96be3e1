"""Text that others wrote, made harmless to show: no escape sequence reaches a terminal, no control character a picture."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from sweep.model import Noun

N = TypeVar("N", bound=Noun)

# C0 and C1 controls, DEL, and what turns the direction of writing around
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHOWN = "\ufffd"


def visible(text: str) -> str:
    """The text with every control character as �."""
    return _CONTROL.sub(_SHOWN, text)


def harmless(noun: N) -> N:
    """A curve, or any noun, with every text in it visible; the same object when it already is, as nearly all are."""
    plain = msgspec.to_builtins(noun)
    cleaned = _cleaned(plain)
    return noun if cleaned == plain else msgspec.convert(cleaned, type(noun))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _cleaned(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cleaned(part) for part in value)
    return value
