"""Which loads a sweep visits when the user says so, and the doubling ladder when not."""

from __future__ import annotations

import math

from sweep.errors import UsageError
from sweep.wording import short

MOST_SLOTS = 65_535  # ports one client address has towards one endpoint
SLOWEST_PER_S, FASTEST_PER_S = 1e-4, 1e6  # one arrival in three hours; more than any client sends
_HINT = {True: "concurrencies as in --grid 1,2,4,8", False: "requests per second as in --rate 0.5,1,2"}


def parse_grid(text: str, whole: bool = True) -> tuple[float, ...]:
    """Levels in the order given: requests in flight where `whole`, else requests per second.

    Raises UsageError for a level that is missing, not a number, not above 0, given twice, or part of a request in flight.
    """
    levels: list[float] = []
    for part in text.split(","):
        level = _level(part.strip(), text, whole)
        if level in levels:
            raise UsageError(
                f"{_named(text, whole)}: {level:g} appears twice", "use --repeat to measure a level more than once"
            )
        levels.append(level)
    return tuple(levels)


def doubling(max_level: float) -> tuple[float, ...]:
    """1, 2, 4, … up to `max_level`."""
    if not max_level >= 1:
        raise UsageError(f"the largest concurrency is {max_level:g}", "give 1 or more")
    return tuple(float(2**power) for power in range(int(math.log2(max_level)) + 1))


def _level(part: str, text: str, whole: bool) -> float:
    try:
        level = float(part)
    except ValueError:
        what = f"{part!r} is not a number" if part else "a level is missing"
        raise UsageError(f"{_named(text, whole)}: {what}", _HINT[whole]) from None
    if not math.isfinite(level) or level <= 0:
        raise UsageError(f"{_named(text, whole)}: {part} is not a load; levels are above 0", _HINT[whole])
    if not whole and not SLOWEST_PER_S <= level <= FASTEST_PER_S:
        allowed = f"{SLOWEST_PER_S:g} to {FASTEST_PER_S:g} a second"
        raise UsageError(f"{_named(text, whole)}: {part} is out of range, {allowed}", _HINT[whole])
    if whole and level != int(level):
        raise UsageError(f"{_named(text, whole)}: {part} is not a whole number of requests in flight", _HINT[whole])
    if whole and level > MOST_SLOTS:
        raise UsageError(f"{_named(text, whole)}: {part} is more than one client can hold open ({MOST_SLOTS})", _HINT[whole])
    return level


def _named(text: str, whole: bool) -> str:
    return f"{'grid' if whole else 'rate'} {short(text, 40)!r}"
