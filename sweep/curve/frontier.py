"""Pareto frontiers of a set of points: which loads are worth buying.

Every axis is oriented so that more is better: a latency enters as its inverse, in 1/s. p dominates q iff p is at least as good
in both coordinates and better in one, so a tie in one coordinate keeps the better point only, and equal vectors make one vertex
that names all its points.

Repeats of a load are one candidate, not several: it lies at the mean of their values, taken in the metric's own unit, and its
interval is the hull of theirs. A lucky repeat therefore never makes a vertex of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sweep.model import Estimate, Frontier, Point, Vertex


@dataclass(frozen=True, slots=True)
class Horizontal:
    """What the buyer's users feel. `statistic` falls back to p50 for the whole curve when any point has too few samples for it."""

    metric: str
    statistic: str
    label: str  # {statistic} is the percentile, {rate} the unit of throughput
    inverse: bool = True


X = {
    "normalised-e2e": Horizontal("normalised_e2e_s", "p90", "1 / normalised E2E {statistic} [{rate}/user, TTFT included]"),
    "interactivity": Horizontal("tpot_s", "p50", "interactivity, 1 / TPOT {statistic} [{rate}/user]"),
    "tpot": Horizontal("tpot_s", "p90", "1000 / TPOT {statistic} in ms [{rate}/user]"),
    "e2e": Horizontal("e2e_s", "p90", "1 / E2E {statistic} [1/s]"),
    "ttft": Horizontal("ttft_s", "p90", "1 / TTFT {statistic} [1/s]"),
    "smooth": Horizontal("smooth_tok_per_s", "p90", "smooth rate {statistic} [{rate}/user]", inverse=False),
}
Y = {
    "output": ("output_tok_per_s", "output throughput [{rate}]"),
    "total": ("total_tok_per_s", "total throughput [{rate}]"),
}
SMALLEST = 1e-100
AXES = tuple(f"{y}/{x}" for y in Y for x in X)  # the first is the default


@dataclass(frozen=True, slots=True)
class Interval:
    """A coordinate with its 95 % interval; None at an end that is unbounded or unknown."""

    value: float
    low: float | None = None
    high: float | None = None

    def inverted(self) -> Interval:
        return Interval(1 / self.value, _over(self.high), _over(self.low))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One load with all its repeats, as a place in the plane."""

    x: Interval
    y: Interval
    ids: tuple[str, ...]


def frontiers(points: Sequence[Point], rate_unit: str = "tok/s") -> tuple[Frontier, ...]:
    """One frontier for each axis pair in `AXES`, in that order."""
    return tuple(frontier(points, axis, rate_unit=rate_unit) for axis in AXES)


def frontier(points: Sequence[Point], axis: str, statistic: str | None = None, *, rate_unit: str = "tok/s") -> Frontier:
    """The frontier of one axis pair, at its own percentile or the one given. Raises KeyError for an axis not in `AXES`."""
    y_name, x_name = axis.split("/")
    horizontal, (rate, y_label) = X[x_name], Y[y_name]
    statistic = statistic or statistic_of(points, horizontal)
    kept = candidates(points, horizontal, statistic, rate)
    best = vertices(kept)
    on_frontier = {name for vertex in best for name in vertex.points}
    placed = [name for candidate in kept for name in candidate.ids]
    return Frontier(
        axis=axis,
        x=f"{horizontal.metric}.{statistic}",
        y=rate,
        x_label=horizontal.label.format(statistic=statistic, rate=rate_unit),
        y_label=y_label.format(rate=rate_unit),
        statistic=statistic,
        vertices=best,
        dominated=tuple(name for name in placed if name not in on_frontier),
        surely_dominated=tuple(name for one in surely_dominated(kept) for name in one.ids),
        dropped=tuple(point.id for point in points if point.id not in set(placed)),
    )


def default_axis(points: Sequence[Point]) -> str:
    """The first axis pair on which these points have a frontier; the usual default when they have none."""
    return next((axis for axis in AXES if frontier(points, axis).vertices), AXES[0])


def axis_named(text: str) -> str:
    """`interactivity` means `output/interactivity`. Raises KeyError, with the known names, for anything else unknown."""
    axis = text if "/" in text else f"output/{text}"
    if axis not in AXES:
        raise KeyError(f"unknown axis {text!r}; known: {', '.join(AXES)}")
    return axis


def statistic_of(points: Iterable[Point], horizontal: Horizontal) -> str:
    """The axis' own percentile, or p50 for the whole curve when a point that counts has too few samples there."""
    known = [
        point.metrics[horizontal.metric] for point in points if horizontal.metric in point.metrics and not point.disqualified
    ]
    own = [statistics.get(horizontal.statistic) for statistics in known]
    scarce = any(one is None or (one.few and one.value is not None) for one in own)
    return "p50" if scarce else horizontal.statistic


def candidates(points: Iterable[Point], horizontal: Horizontal, statistic: str, rate: str) -> list[Candidate]:
    """Points that may decide (qualified, both values positive), repeats of a load joined; in order of their load."""
    groups: dict[tuple[str, float, str], list[tuple[str, Estimate, Estimate]]] = {}
    for point in points:
        x, y = point.statistic(horizontal.metric, statistic), point.rate(rate)
        if not point.disqualified and _positive(x) and _positive(y):
            groups.setdefault((point.load.kind, point.load.level, point.start), []).append((point.id, x, y))
    found = []
    for _, members in sorted(groups.items()):
        x_interval, y_interval = pooled([x for _, x, _ in members]), pooled([y for _, _, y in members])
        place = x_interval.inverted() if horizontal.inverse else x_interval
        found.append(Candidate(place, y_interval, tuple(sorted(name for name, _, _ in members))))
    return found


def pooled(estimates: Sequence[Estimate]) -> Interval:
    """Mean of the repeats' values; hull of their intervals, open wherever one of them is."""
    values = sorted(estimate.value for estimate in estimates if estimate.value is not None)
    lows = [estimate.low for estimate in estimates if estimate.low is not None]
    highs = [estimate.high for estimate in estimates if estimate.high is not None]
    return Interval(
        sum(values) / len(values),
        min(lows) if len(lows) == len(estimates) else None,
        max(highs) if len(highs) == len(estimates) else None,
    )


def vertices(kept: Sequence[Candidate]) -> tuple[Vertex, ...]:
    """Maximal candidates by ascending x (and so descending y); equal vectors share a vertex."""
    found: list[Vertex] = []
    for one in sorted(kept, key=lambda candidate: (-candidate.x.value, -candidate.y.value, candidate.ids)):
        x, y = one.x.value, one.y.value
        if found and (x, y) == (found[-1].x, found[-1].y):
            found[-1] = Vertex(x=x, y=y, points=tuple(sorted((*found[-1].points, *one.ids))))
        elif not found or y > found[-1].y:
            found.append(Vertex(x=x, y=y, points=one.ids))
    return tuple(reversed(found))


def surely_dominated(kept: Sequence[Candidate]) -> list[Candidate]:
    """Those whose best another one's worst reaches on both axes and passes on one; an unknown end proves nothing."""
    if not kept:
        return []
    x_low, x_high, y_low, y_high = (
        np.array([math.nan if end is None else end for end in ends], np.float64)
        for ends in zip(*((one.x.low, one.x.high, one.y.low, one.y.high) for one in kept), strict=True)
    )
    reaches = (x_low[:, None] >= x_high) & (y_low[:, None] >= y_high)
    passes = (x_low[:, None] > x_high) | (y_low[:, None] > y_high)
    beaten: list[bool] = np.any(reaches & passes, axis=0).tolist()
    return [one for one, lost in zip(kept, beaten, strict=True) if lost]


def _over(end: float | None) -> float | None:
    return 1 / end if end is not None and end > SMALLEST else None


def _positive(estimate: Estimate) -> bool:
    """Positive, and so is its inverse."""
    return estimate.value is not None and SMALLEST < estimate.value < 1 / SMALLEST
