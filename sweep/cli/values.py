"""What people type, as numbers and names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, get_args

from sweep.errors import UsageError

Reader = Callable[[str, str], Any]  # (text, flag) -> what the command is given; raises UsageError
SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
SHORTEST_S, LONGEST_S = 1e-3, 30 * 86_400.0
_HELP = "--help says what it means"
MOST = 2**53  # from there on JSON readers round


def whole(least: int = -MOST, most: int = MOST) -> Reader:
    """Reads a whole number from `least` to `most`."""

    def read(text: str, flag: str) -> int:
        value = int(text) if re.fullmatch(r"\s*[-+]?\d{1,20}\s*", text, re.ASCII) else None
        if value is None or not least <= value <= most:
            raise UsageError(f"{flag}: expected a whole number{_range(least, most)}, got {text!r}", _HELP)
        return value

    return read


def decimal(least: float = -math.inf, most: float = math.inf) -> Reader:
    """Reads a finite number from `least` to `most`."""

    def read(text: str, flag: str) -> float:
        value = _float(text)
        if not math.isfinite(value) or not least <= value <= most:
            raise UsageError(f"{flag}: expected a number{_range(least, most)}, got {text!r}", _HELP)
        return value

    return read


def number(text: str, flag: str) -> float:
    """Finite and above zero."""
    value = _float(text)
    if not 0 < value < math.inf:
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", _HELP)
    return value


def one_of(names: Any) -> Reader:
    """Reads one of the names of a `Literal`."""
    *others, last = get_args(names)

    def read(text: str, flag: str) -> str:
        if text not in get_args(names):
            raise UsageError(f"{flag}: expected {', '.join(others)} or {last}, got {text!r}", _HELP)
        return text

    return read


def auto_or(read: Reader) -> Reader:
    """Reads what `read` does; `auto` is None."""
    return lambda text, flag: None if text.strip().lower() == "auto" else read(text, flag)


def seconds(text: str, flag: str) -> float:
    """`30s`, `5m`, `1h`, `1.5min`. A number without a unit is refused: seconds and minutes are both plausible."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)", text.strip().lower(), re.ASCII)
    value = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not SHORTEST_S <= value <= LONGEST_S:
        raise UsageError(f"{flag}: expected a time from 1ms to 720h, got {text!r}", "write it with its unit: 30s, 5m, 1h")
    return value


def count(text: str, flag: str) -> int:
    """`200000`, `500k`, `5M`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)", text.strip().lower().replace("_", "").replace(",", ""), re.ASCII)
    value = float(found[1]) * THOUSANDS[found[2]] if found else 0.0
    if not 1 <= value <= MOST:
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", "for instance 200000, 500k or 5M")
    return round(value)


def _range(least: float, most: float) -> str:
    if most >= MOST:
        return f" from {least:g}" if least > -MOST else ""
    return f" from {least:g} to {most:g}"


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def name(text: str, flag: str) -> str:
    """The name of a folder and its files: what is no letter, digit, dot or dash becomes a dash, and something must be left."""
    if not re.search(r"[A-Za-z0-9]", text):
        raise UsageError(f"{flag}: expected letters or digits, got {text!r}", "it names a folder and files")
    return text


def belongs(flag: str, given: bool, other: str, there: bool) -> None:
    """Raises UsageError for an option that says nothing without another one."""
    if given and not there:
        raise UsageError(f"{flag} says nothing without {other}", f"add {other}, or leave {flag} out")


def axis_pair(text: str, flag: str) -> str:
    """`ttft` or `total/ttft` as a pair of axes."""
    from sweep.curve.frontier import axis_named

    try:
        return axis_named(text)
    except KeyError as error:
        raise UsageError(f"{flag}: {error.args[0]}", f"for instance {flag} interactivity") from None
