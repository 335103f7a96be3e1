"""Where one more cell says most: at an SLO's boundary, then in the widest gap of the frontier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from sweep.curve.frontier import default_axis, frontier
from sweep.model import Plan, Point, SloResult

BRACKET = 1.03  # the highest load that meets an SLO is known well enough
MAX_LN_GAP = 0.25


def narrowing(plan: Plan, measured: Sequence[Point]) -> tuple[float, str] | None:
    """The next level and why, None when every boundary is bracketed and no gap is wide. `measured`: one point a level."""
    whole = plan.kind == "closed"
    for slo in plan.slos:
        level = boundary(slo.name, measured, whole)
        if level is not None:
            return level, f"between loads that meet and miss {slo.name}"
    level = widest_gap(measured, whole)
    return (level, "the widest gap of the frontier") if level is not None else None


def confirming(plan: Plan, points: Sequence[Point]) -> float | None:
    """The load of a vertex to measure once more: first the highest that meets an SLO, then from low to high.

    The lowest load is left out: it is repeated at the end in any case.
    """
    again = {point.load.level for point in points if point.repeat >= plan.repeats}
    levels = {point.id: point.load.level for point in points}
    named = {levels[name] for vertex in frontier(points, default_axis(points)).vertices for name in vertex.points}
    best = [max((point.load.level for point in points if _meets(point, slo.name)), default=None) for slo in plan.slos]
    wanted = [level for level in best if level is not None] + sorted(named)
    lowest = min(levels.values(), default=None)
    return next((level for level in wanted if level not in again and level != lowest), None)


def boundary(slo: str, measured: Sequence[Point], whole: bool) -> float | None:
    """The load between the highest that meets the SLO and the next above it, which does not; None when bracketed."""
    met = {point.load.level: _meets(point, slo) for point in measured}
    best = max((level for level, meets in met.items() if meets), default=None)
    above = min((level for level in met if best is not None and level > best), default=None)
    if best is None or above is None or above <= best * BRACKET:
        return None
    return between(best, above, whole)


def widest_gap(measured: Sequence[Point], whole: bool) -> float | None:
    """The load between the two neighbouring vertices that lie farthest apart, of those that have a load between them."""
    levels = {point.id: point.load.level for point in measured}
    vertices = frontier(measured, default_axis(measured)).vertices
    wide = []
    for left, right in pairwise(vertices):
        gap = max(math.log(right.x / left.x), math.log(left.y / right.y))
        low, high = sorted((levels[left.points[0]], levels[right.points[0]]))
        level = between(low, high, whole)
        if gap > MAX_LN_GAP and level is not None and level not in levels.values():
            wide.append((gap, level))
    return max(wide)[1] if wide else None


def between(low: float, high: float, whole: bool) -> float | None:
    """The geometric middle, to a whole number where only those exist; None when nothing lies between."""
    middle = math.sqrt(low * high)
    level = float(min(max(round(middle), low + 1), high - 1)) if whole else float(f"{middle:.3g}")
    return level if low < level < high else None


def _meets(point: Point, slo: str) -> bool:
    """By the verdict; while it is undecided, by the shares themselves: a guess is enough to choose where to look."""
    return not point.disqualified and any(result.slo == slo and _likely(result) for result in point.slos)


def _likely(result: SloResult) -> bool:
    if result.verdict != "undecided":
        return result.verdict == "met"
    return bool(result.bounds) and all((one.share.value or 0.0) >= (one.bound.quantile or 1.0) for one in result.bounds)
