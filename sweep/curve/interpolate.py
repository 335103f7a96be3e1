"""What a frontier says between its vertices: what was attained, what the measurements alone prove, and an interpolation.

A frontier is given as its vertices (x ascending, y descending), both axes positive and oriented to maximise.

    A(t) = max{y : x >= t}   attained: flat to the left of a vertex, nothing (None) to the right of the last
    U(t) = min{y : x <= t}   what no interpolation may exceed; None (nothing measured) left of the first vertex
    F(t) between the vertices of one deployment, never outside them

Rules for F: `pchip` in (ln x, ln y) (Fritsch & Butland 1984; scipy's PCHIP, the default), `steffen` in linear axes (Steffen 1990,
with the end slopes of d3's curveMonotoneX: the charts of InferenceX), `step`, F = A (MLPerf's rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sweep.model import Vertex

Rule = Literal["pchip", "steffen", "step"]
RULES: tuple[Rule, ...] = ("pchip", "steffen", "step")
Standing = Literal["measured", "interpolated", "unreachable"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answer:
    """y at one x: by the rule, and the bracket [attained, ceiling] that the measurements alone prove.

    `interpolated` left of the first vertex means its own y: whoever needs less may take the fastest load.
    """

    standing: Standing
    value: float | None
    attained: float | None
    ceiling: float | None


def at(vertices: Sequence[Vertex], x: float, rule: Rule = "pchip") -> Answer:
    """The frontier's answer at x > 0. Never clamped, never extrapolated: right of the last vertex it is unreachable."""
    low, high = attained(vertices, x), ceiling(vertices, x)
    if low is None:
        return Answer("unreachable", None, None, high)
    if any(vertex.x == x for vertex in vertices):
        return Answer("measured", low, low, high)
    inside = rule != "step" and high is not None
    return Answer("interpolated", curve_through(vertices, rule)(x) if inside else low, low, high)


def attained(vertices: Sequence[Vertex], x: float) -> float | None:
    """A(x)."""
    return max((vertex.y for vertex in vertices if vertex.x >= x), default=None)


def ceiling(vertices: Sequence[Vertex], x: float) -> float | None:
    """U(x)."""
    return min((vertex.y for vertex in vertices if vertex.x <= x), default=None)


def curve_through(vertices: Sequence[Vertex], rule: Rule) -> Callable[[float], float]:
    """F between the first and the last vertex; the caller stays inside. One vertex is a constant."""
    if len(vertices) == 1:
        return lambda _: vertices[0].y
    x = np.array([vertex.x for vertex in vertices])
    y = np.array([vertex.y for vertex in vertices])
    if rule == "step":
        return lambda t: float(y[np.searchsorted(x, t)])
    if rule == "steffen":
        slopes = steffen_slopes(x, y)
        return lambda t: _hermite(x, y, slopes, t)
    from scipy.interpolate import PchipInterpolator

    in_logs = PchipInterpolator(np.log(x), np.log(y))
    return lambda t: math.exp(float(in_logs(math.log(t))))


def steffen_slopes(x: Floats, y: Floats) -> Floats:
    """Slopes of the monotone cubic: (sign s0 + sign s1) · min(|s0|, |s1|, |p|/2), p the parabola's; ends (3 s − m)/2."""
    h, s = np.diff(x), np.diff(y) / np.diff(x)
    if len(s) == 1:
        return np.array([s[0], s[0]])
    parabola = (s[:-1] * h[1:] + s[1:] * h[:-1]) / (h[:-1] + h[1:])
    smallest = np.minimum(np.minimum(np.abs(s[:-1]), np.abs(s[1:])), np.abs(parabola) / 2)
    inner = (np.sign(s[:-1]) + np.sign(s[1:])) * smallest
    return np.concatenate([[(3 * s[0] - inner[0]) / 2], inner, [(3 * s[-1] - inner[-1]) / 2]])


def _hermite(x: Floats, y: Floats, slopes: Floats, t: float) -> float:
    left = min(max(int(np.searchsorted(x, t, side="right")) - 1, 0), len(x) - 2)
    h = x[left + 1] - x[left]
    u = (t - x[left]) / h
    weights = ((1 + 2 * u) * (1 - u) ** 2, u * (1 - u) ** 2 * h, u**2 * (3 - 2 * u), u**2 * (u - 1) * h)
    values = (y[left], slopes[left], y[left + 1], slopes[left + 1])
    return float(sum(weight * value for weight, value in zip(weights, values, strict=True)))
