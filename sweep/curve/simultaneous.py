"""Were the shards of a cell under load at the same time? Their rates add up only where all of them were."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import permutations

from sweep.model import Point

Span = tuple[float, float]  # seconds of the wall clock


def least_cover(parts: Sequence[Point]) -> float | None:
    """The smallest share of a shard's window in which another was under load, start and tail included; None where no clock tells."""
    shares = [_share(_window(one), _load(other)) for one, other in permutations(parts, 2)]
    known = [share for share in shares if share is not None]
    return min(known) if known and len(known) == len(shares) else None


def _share(window: Span | None, load: Span | None) -> float | None:
    if window is None or load is None or window[0] >= window[1]:
        return None
    return max(0.0, min(window[1], load[1]) - max(window[0], load[0])) / (window[1] - window[0])


def _load(point: Point) -> Span | None:
    begin_s = _seconds(point.started_at)
    return None if begin_s is None or point.busy_s is None else (begin_s, begin_s + point.busy_s)


def _window(point: Point) -> Span | None:
    """By older versions, which did not note when it began, the whole time under load."""
    if point.window is None:
        return None
    begin_s = _seconds(point.window.began_at)
    return _load(point) if begin_s is None else (begin_s, begin_s + point.window.seconds)


def _seconds(moment: str | None) -> float | None:
    try:
        return None if moment is None else datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None
