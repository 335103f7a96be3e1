"""How fast one user's answer comes: between its tokens where it is streamed, as a whole where it comes in one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sweep.model import Estimate, Point
from sweep.report import quantity


@dataclass(frozen=True, slots=True)
class Pace:
    """`how` says what of the file it is read from."""

    name: str
    how: str
    read: Callable[[Point], Estimate | None]


def _whole(point: Point) -> Estimate | None:
    return quantity.inverse(quantity.metric(point, "normalised_e2e_s", "p50"))


STREAMED = Pace("interactivity", "1 / TPOT p50", quantity.interactivity)
WHOLE = Pace("speed of a request", "1 / normalised E2E p50", _whole)


def pace(points: Sequence[Point]) -> Pace:
    """The one these points have; interactivity where they have none."""
    streamed = any(quantity.interactivity(point) for point in points)
    return STREAMED if streamed or not any(_whole(point) for point in points) else WHOLE
