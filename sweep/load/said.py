"""The text of a streamed answer, for those that have to be tokenised because nobody counts their tokens."""

from __future__ import annotations

from typing import Any

import msgspec

KEYS = ("content", "text", "reasoning", "reasoning_content", "refusal", "arguments")
DIALECTS = ("chat", "completions")  # their events bring text in these fields, and never the same text twice
MAX_BYTES = 1 << 20


class Said:
    """An answer's text as it comes, until it is whole; one too long to be held is let go."""

    __slots__ = ("_text",)

    def __init__(self) -> None:
        self._text: bytearray | None = bytearray()

    def add(self, data: bytes) -> None:
        """Takes what an event's data says."""
        if self._text is not None:
            self._text += text_of(data).encode("utf-8", "replace")
            if len(self._text) > MAX_BYTES:
                self._text = None

    def text(self) -> str | None:
        return self._text.decode() if self._text else None


def text_of(data: bytes) -> str:
    """Every piece of answer, reasoning or tool call in the data of an event, in order."""
    try:
        return "".join(_pieces(msgspec.json.decode(data, type=dict[str, Any]).get("choices")))
    except (msgspec.DecodeError, RecursionError):
        return ""


def _pieces(value: Any) -> list[str]:
    if isinstance(value, list):
        return [piece for part in value for piece in _pieces(part)]
    if not isinstance(value, dict):
        return []
    found = []
    for key, part in value.items():
        found += [part] if key in KEYS and isinstance(part, str) else _pieces(part)
    return found
