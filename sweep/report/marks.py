"""Points as places in a picture: what is drawn of them, and which of them nothing beats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from sweep.model import Estimate, Point
from sweep.report import quantity

Read = Callable[[Point], Estimate | None]
Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point's place in a panel. `bars` are its two-sided intervals, `faint` that its percentile rests on too few requests."""

    point: Point
    x: float
    y: float
    bars: tuple[tuple[Spot, Spot], ...]
    faint: bool


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    x: Read
    colour: str


def marks(series: Series, points: Sequence[Point]) -> list[Mark]:
    """The points that have both a place on the x axis and a throughput."""
    found: list[Mark] = []
    for point in points:
        across, up = series.x(point), quantity.rate(point)
        if across is None or up is None or across.value is None or up.value is None:
            continue
        x, y = across.value, up.value
        bars = [((across.low, y), (across.high, y))] if across.low is not None and across.high is not None else []
        bars += [((x, up.low), (x, up.high))] if up.low is not None and up.high is not None else []
        found.append(Mark(point, x, y, tuple(bars), across.few))
    return found


def frontier(drawn: Sequence[Mark], more_is_better: bool) -> list[Spot]:
    """What no other load beats in both directions of the panel, from left to right.

    Repeats of a load are one candidate at their mean; disqualified and faint points are out.
    """
    sign = 1 if more_is_better else -1
    loads: dict[tuple[str, float], list[Mark]] = {}
    for mark in drawn:
        if not mark.point.disqualified and not mark.faint:
            loads.setdefault((mark.point.load.kind, mark.point.load.level), []).append(mark)
    able = [(fmean(mark.x for mark in each), fmean(mark.y for mark in each)) for each in loads.values()]
    best: list[Spot] = []
    for x, y in sorted(able, key=lambda each: (-sign * each[0], -each[1])):
        if not best or y > best[-1][1]:
            best.append((x, y))
    return sorted(best)
