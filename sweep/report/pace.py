"""How fast one user is served: the default axis of the frontier, for figure, sketch and page alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sweep.curve.frontier import X, default_axis, statistic_of
from sweep.model import Estimate, Point
from sweep.report import quantity


@dataclass(frozen=True, slots=True)
class Pace:
    """`label` names it with a place for the unit, `{rate}`; `statistic` is the percentile it is read at."""

    label: str
    statistic: str
    read: Callable[[Point], Estimate | None]


def pace(points: Sequence[Point]) -> Pace:
    """That of the first axis on which these points have a frontier."""
    axis = X[default_axis(points).split("/")[1]]
    statistic = statistic_of(points, axis)

    def read(point: Point) -> Estimate | None:
        found = quantity.metric(point, axis.metric, statistic)
        return quantity.inverse(found) if axis.inverse else found

    return Pace(axis.label.replace("{statistic}", statistic), statistic, read)


def streamed(points: Sequence[Point]) -> bool:
    """Whether any answer came in pieces, so that there is a time between tokens. Without points: assumed."""
    return any(quantity.interactivity(point) for point in points) or not any(
        quantity.metric(point, "normalised_e2e_s", "p50") for point in points
    )
