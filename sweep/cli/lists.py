"""Several numbers in one option, and one for each curve: what `sweep compare` is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from sweep.cli.values import number
from sweep.errors import UsageError

if TYPE_CHECKING:
    from sweep.curve.cost import Price

Key = TypeVar("Key")
Value = TypeVar("Value")
MOST_ACCELERATORS = 1_000_000


def places(text: str | None, flag: str) -> tuple[float, ...]:
    """`20,50,100`."""
    return () if text is None else tuple(number(part.strip(), flag) for part in text.split(","))


def weights(text: str | None, flag: str) -> dict[float | str, float]:
    """`20=3,50=1`; what is no number is an SLO, which may hold commas and `=` of its own: `ttft<=1s,e2e<=9s=3,20=1`."""
    if text is None:
        return {}
    pairs = re.findall(r"(.+?)=(\d+(?:\.\d+)?)(?:,|$)", text)
    if ",".join(f"{what}={weight}" for what, weight in pairs) != text.rstrip(","):
        raise UsageError(f"{flag} {text}: expected WHERE=WEIGHT, joined by commas", f"for instance {flag} 20=3,50=1")
    return _once(((_place_or_slo(what.strip()), number(weight, flag)) for what, weight in pairs), flag)


def _place_or_slo(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if 0 < value < float("inf") else text


def accelerators(texts: Iterable[str], flag: str) -> dict[str, int]:
    """`A=8`, one a curve."""
    return _once((_count(text, flag) for text in texts), flag)


def _count(text: str, flag: str) -> tuple[str, int]:
    label, equals, count = (part.strip() for part in text.partition("="))
    if not label or not equals:
        raise UsageError(f"{flag} {text}: expected LABEL=COUNT", "A=8 counts the accelerators behind the first curve")
    return label, _whole(number(count, flag), flag)


def prices(texts: Iterable[str], flag: str) -> dict[str, Price]:
    """`A=2.5`, `A=0.60/M`, one a curve."""
    from sweep.curve import cost

    return _once(map(cost.parse, texts), flag)


def powers(texts: Iterable[str], flag: str) -> dict[str, float]:
    """`A=700`, `A=1.4kW`, one a curve."""
    from sweep.curve import power

    return _once(map(power.parse, texts), flag)


def _whole(value: float, flag: str) -> int:
    if value != int(value) or value > MOST_ACCELERATORS:
        raise UsageError(
            f"{flag}: expected a whole number up to {MOST_ACCELERATORS:,}, got {value:g}", f"for instance {flag} A=8"
        )
    return int(value)


def _once(pairs: Iterable[tuple[Key, Value]], flag: str) -> dict[Key, Value]:
    """By key. Raises UsageError for one that is given twice."""
    found: dict[Key, Value] = {}
    for key, value in pairs:
        if key in found:
            raise UsageError(f"{flag}: {key} is given twice", "give each once")
        found[key] = value
    return found
