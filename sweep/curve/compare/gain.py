"""How far one frontier is above another over the x that both cover: one mean ratio, and where it is won and lost.

G = exp(∫ (ln F_A − ln F_B) d ln x / (ln b − ln a)) with F the log-log PCHIP (Bjøntegaard, VCEG-M33, 2001; PCHIP as in JCTVC's
sheets). Parity: PyPI `bjontegaard` 1.3.0, bd_rate(method="pchip") over ln x, to 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare import crossings, fan, judge, noise
from sweep.curve.compare.nouns import Gain, Ratio
from sweep.curve.compare.plane import Plane, window
from sweep.curve.compare.versus import Pair, ratio_of
from sweep.model import Noun, Vertex

Floats = NDArray[np.float64]
Vertices = tuple[Vertex, ...]
Differ = Callable[[float, float], bool]  # (ln x, ln a/b) -> whether that is more than noise

GRID = 2001


class Shape(Noun, frozen=True, kw_only=True):
    """Where a is ahead and behind by more than δ, as shares of the window in ln x; extremes as (x, ratio)."""

    share_won: float
    share_lost: float
    best: tuple[float, float]
    worst: tuple[float, float]
    crossings: tuple[float, ...]
    sure_crossings: tuple[float, ...]


def gain(a: Plane, b: Plane, per: float, delta: float) -> Gain:
    """Two curves over what both cover; `per`: ln of a's accelerators over b's."""
    shared = window((a, b)) if a.vertices and b.vertices else None
    if shared is None:
        return Gain(a=a.label, b=b.label, window=None, ratio=Ratio(value=None))
    value = float(mean_ln_ratio(a.still, b.still)[0]) - per
    draws: Floats | None = None
    differ: Differ = _nowhere
    if a.moved is not None and b.moved is not None:
        draws = noise.welch(value, mean_ln_ratio(a.moved, b.moved) - per, (*a.sources, *b.sources))
        differ = _differ(a, b, a.moved, b.moved, per, delta)
    least, most = bracket(a.vertices, b.vertices, shared)
    pair = Pair(value, draws, math.log(least) - per, math.log(most) - per)
    found = shape(a.still, b.still, shared, delta, per, differ)
    return Gain(a=a.label, b=b.label, window=shared, ratio=ratio_of(pair), **msgspec.structs.asdict(found))


def _differ(a: Plane, b: Plane, moved_a: fan.Fan, moved_b: fan.Fan, per: float, delta: float) -> Differ:
    """Whether one is better at ln x, as a verdict at a target would have it; where noise ends a frontier short of it, at its end."""

    def differ(ln_x: float, ln_ratio: float) -> bool:
        ln_a, ln_b = (fan.value(moved, np.minimum(ln_x, moved.last)) for moved in (moved_a, moved_b))
        draws = noise.welch(ln_ratio, ln_a - ln_b - per, (*a.sources, *b.sources))
        call = judge.call(ln_ratio, judge.p_differs(draws), judge.p_equivalent(draws, delta), more_is_better=True)
        return call in ("better", "worse")

    return differ


def _nowhere(ln_x: float, ln_ratio: float) -> bool:
    return False


def mean_ln_ratio(a: fan.Fan, b: fan.Fan) -> Floats:
    """ln G of each row over the window of that row; NaN where its two frontiers share no window."""
    low, high = np.maximum(a.first, b.first), np.minimum(a.last, b.last)
    shared = low < high
    width = np.where(shared, high - low, 1.0)
    low, high = np.where(shared, low, a.first), np.where(shared, high, a.first)
    b_low, b_high = np.where(shared, low, b.first), np.where(shared, high, b.first)
    area = fan.integral(a, low, high) - fan.integral(b, b_low, b_high)
    return np.where(shared, area / width, np.nan)


def bracket(a: Vertices, b: Vertices, window: tuple[float, float]) -> tuple[float, float]:
    """G by the measurements alone: with each frontier anywhere between what was attained and what cannot be exceeded."""
    edges = sorted({x for x in (vertex.x for vertex in (*a, *b)) if window[0] < x < window[1]} | set(window))
    widths = np.diff(np.log(edges))
    middles = [float(np.sqrt(left * right)) for left, right in pairwise(edges)]
    low_a, high_a = _steps(a, middles)
    low_b, high_b = _steps(b, middles)
    total = widths.sum()
    return float(np.exp(widths @ (low_a - high_b) / total)), float(np.exp(widths @ (high_a - low_b) / total))


def shape(
    a: fan.Fan, b: fan.Fan, window: tuple[float, float], delta: float, per: float = 0.0, differ: Differ = _nowhere
) -> Shape:
    """Of two frontiers as measured (fans of one row); `per` is taken off ln a/b, as ln of a's accelerators over b's."""
    ln_x = np.linspace(np.log(window[0]), np.log(window[1]), GRID)
    difference = fan.along(a, ln_x) - fan.along(b, ln_x) - per
    edge = np.log1p(delta)
    weights = np.full(GRID, 1.0)
    weights[[0, -1]] = 0.5
    highest, lowest = int(np.argmax(difference)), int(np.argmin(difference))
    level = crossings.crossings(lambda at: float(fan.along(a, at)[0] - fan.along(b, at)[0] - per), ln_x, difference)
    return Shape(
        share_won=float(weights @ (difference > edge) / weights.sum()),
        share_lost=float(weights @ (difference < -edge) / weights.sum()),
        best=(float(np.exp(ln_x[highest])), float(np.exp(difference[highest]))),
        worst=(float(np.exp(ln_x[lowest])), float(np.exp(difference[lowest]))),
        crossings=tuple(map(float, np.exp(level))),
        sure_crossings=tuple(map(float, np.exp(crossings.sure(level, ln_x, difference, differ)))),
    )


def _steps(vertices: Vertices, at: list[float]) -> tuple[Floats, Floats]:
    """ln A and ln U at places inside the frontier's own range."""
    x = np.array([vertex.x for vertex in vertices])
    ln_y = np.log([vertex.y for vertex in vertices])
    right = np.searchsorted(x, at, side="left")
    return ln_y[right], ln_y[right - 1]
