"""What work is counted in, for people, by the unit of its rate: `tok/s`, `vectors/s`, `docs/s`, `audio s/s`."""

from __future__ import annotations

_ONE = {"vectors": "vector", "docs": "doc"}
_SPELLED = {"tok": "token", "docs": "document", "audio s": "second of audio"}


def many(rate_unit: str) -> str:
    """As a head of a column has it: `tok`, `vectors`, `audio s`."""
    return rate_unit.removesuffix("/s")


def one(rate_unit: str) -> str:
    """`tok`, `vector`, `doc`, `audio s`."""
    return _ONE.get(many(rate_unit), many(rate_unit))


def spelled(rate_unit: str) -> str:
    """As a sentence has it: `token`, `vector`, `document`, `second of audio`."""
    return _SPELLED.get(many(rate_unit), one(rate_unit))


def many_spelled(rate_unit: str) -> str:
    """`tokens`, `vectors`, `seconds of audio`."""
    word = spelled(rate_unit)
    return word.replace("second", "seconds") if word.startswith("second") else f"{word}s"
