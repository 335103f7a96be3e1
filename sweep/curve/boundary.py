"""Where between two measured loads an SLO ceases to hold: the first of its bounds to break."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sweep.curve.interpolate import Rule, curve_through
from sweep.curve.stored import histogram_of
from sweep.measure import histogram
from sweep.model import Bound, Point, Slo, Vertex

HALVINGS = 50
Groups = Sequence[tuple[float, Sequence[Point]]]


@dataclass(frozen=True, slots=True)
class Boundary:
    """The load at which the SLO ceases to hold: between `meets` and `fails`, which were measured; `level` is interpolated."""

    meets: float
    fails: float
    level: float
    bound: Bound  # the one that breaks first


def boundary(groups: Groups, highest: int, slo: Slo, rule: Rule = "pchip") -> Boundary | None:
    """Where above load `highest` of the groups, and below the next, the first bound breaks: its percentile over the loads, by the rule."""
    meets, fails = groups[highest][0], groups[highest + 1][0]
    crossings = []
    for bound in slo.bounds:
        known = [(level, _percentile_s(points, bound)) for level, points in groups]
        places = [Vertex(x=level, y=seconds, points=()) for level, seconds in known if seconds]
        at_level = {place.x: place.y for place in places}
        if at_level.get(meets, math.inf) <= bound.limit_s < at_level.get(fails, 0.0):
            crossings.append((_crossing(places, meets, fails, bound.limit_s, rule), bound))
    if not crossings:
        return None
    level, bound = min(crossings, key=lambda crossing: crossing[0])
    return Boundary(meets, fails, level, bound)


def _crossing(places: Sequence[Vertex], below: float, above: float, limit: float, rule: Rule) -> float:
    """The load where the curve through the places reaches the limit; monotone between two neighbours, so halving finds it."""
    if rule == "step":
        return below
    value = curve_through(places, rule)
    for _ in range(HALVINGS):
        middle = math.sqrt(below * above)
        below, above = (middle, above) if value(middle) <= limit else (below, middle)
    return below


def _percentile_s(repeats: Sequence[Point], bound: Bound) -> float | None:
    metric = f"{bound.metric}_s"
    known = [histogram_of(point, metric) for point in repeats if metric in point.histograms]
    us = histogram.percentile_us(histogram.add(known), 1.0 if bound.quantile is None else bound.quantile) if known else None
    return None if us is None else us / 1e6
