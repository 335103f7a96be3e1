"""Words that fit their numbers."""

from __future__ import annotations

from string import Formatter
from typing import Any


def plural(number: float | None, one: str, many: str | None = None) -> str:
    """`night` for 1, else `nights`; `many` where an s is not all of it."""
    return one if number == 1 else many or f"{one}s"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 night`, `2 nights`, `12,000 nights`."""
    return f"{number:,} {plural(number, one, many)}"


def short(text: str, limit: int) -> str:
    """At most so many letters, … for the rest."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Template(Formatter):
    """`str.format`, in which `{count:night is|nights are}` stands for the words that fit the number."""

    def format_field(self, value: Any, format_spec: str) -> str:
        one, either, many = format_spec.partition("|")
        text: str = plural(value, one, many) if either else super().format_field(value, format_spec)
        return text
