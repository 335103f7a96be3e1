"""What one side delivers at a target, with draws of its logarithm; here for a target on the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.curve import interpolate
from sweep.curve.compare import fan, judge, noise
from sweep.curve.compare.nouns import Served
from sweep.curve.compare.plane import Plane
from sweep.model import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """`ln`: draws of ln tok/s, −∞ where a draw does not reach the target; None where too little is known to draw.

    They are normal; whoever reads an interval from them, or from what is made of them, calls `noise.welch` with all `sources`.
    """

    served: Served
    value: float | None
    ln: Floats | None
    sources: tuple[noise.Source, ...] = ()


def at_x(plane: Plane, x: float) -> Delivery:
    """The frontier's answer at x."""
    answer = interpolate.at(plane.vertices, x)
    ln = None if plane.moved is None else fan.value(plane.moved, np.array(np.log(x)))
    served = Served(
        label=plane.label,
        standing=answer.standing,
        tok_per_s=estimate(answer.value, ln, plane.sources),
        attained=answer.attained,
        ceiling=answer.ceiling,
        loads=_around(plane, x),
    )
    return Delivery(served, answer.value, ln, plane.sources if ln is not None else ())


def _around(plane: Plane, x: float) -> tuple[float, ...]:
    """The loads of the vertices at both sides of x, the lower load first."""
    right = next((vertex for vertex in plane.vertices if vertex.x >= x), None)
    left = next((vertex for vertex in reversed(plane.vertices) if vertex.x <= x), None)
    names = {name for vertex in (left, right) if vertex is not None for name in vertex.points}
    return tuple(sorted({point.load.level for point in plane.curve.points if point.id in names}))


def estimate(value: float | None, ln: Floats | None, sources: Sequence[noise.Source]) -> Estimate:
    """A value with the interval of its draws; low 0 where some draws deliver nothing, high None where some are unbounded."""
    if value is None or ln is None:
        return Estimate(value=value)
    ends = judge.interval(noise.welch(float(np.log(value)), ln, sources))
    if ends is None:
        return Estimate(value=value)
    low, high = min(float(np.exp(ends[0])), value), max(float(np.exp(ends[1])), value)
    return Estimate(value=value, low=low, high=high if np.isfinite(high) else None)
