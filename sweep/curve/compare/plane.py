"""A curve on the axis of the comparison: its frontier, and that frontier as noise may have moved it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare import fan, noise
from sweep.curve.frontier import AXES, X, Y, axis_named, candidates, statistic_of, vertices
from sweep.errors import UsageError
from sweep.model import Curve, Estimate, Point, Vertex

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis pair at the one percentile that every curve has enough samples for."""

    name: str
    metric: str
    statistic: str
    rate: str
    inverse: bool
    x_label: str
    y_label: str


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """One side of the comparison on its axis. `moved` is None where a vertex' noise is unknown or there is no vertex."""

    label: str
    curve: Curve
    vertices: tuple[Vertex, ...]
    moved: fan.Fan | None
    sources: tuple[noise.Source, ...]
    random: noise.Random

    @property
    def still(self) -> fan.Fan:
        """The frontier as measured, as a fan of one row."""
        x = np.log([[vertex.x for vertex in self.vertices]])
        return fan.fan(x, np.log([[vertex.y for vertex in self.vertices]]))


def axis_of(curves: Sequence[Curve], name: str | None) -> Axis:
    """The axis asked for, else the first on which every curve has a frontier. Raises UsageError for an unknown one."""
    try:
        chosen = axis_named(name) if name else None
    except KeyError as error:
        raise UsageError(f"--axis: {error.args[0]}", "the default is normalised-e2e") from None
    if chosen is not None:
        return named_axis(curves, chosen)
    axes = [named_axis(curves, one) for one in AXES]
    return next((axis for axis in axes if all(vertices_of(curve, axis) for curve in curves)), axes[0])


def named_axis(curves: Sequence[Curve], name: str) -> Axis:
    """The axis pair of a name, at the percentile all can answer for. Raises KeyError for an unknown one."""
    y_name, x_name = name.split("/")
    horizontal, (rate, y_label) = X[x_name], Y[y_name]
    statistics = {statistic_of(curve.points, horizontal) for curve in curves}
    statistic = "p50" if "p50" in statistics else horizontal.statistic
    unit = curves[0].endpoint.rate_unit if curves else "tok/s"
    x_label, y_label = horizontal.label.format(statistic=statistic, rate=unit), y_label.format(rate=unit)
    return Axis(name, horizontal.metric, statistic, rate, horizontal.inverse, x_label, y_label)


def vertices_of(curve: Curve, axis: Axis) -> tuple[Vertex, ...]:
    return vertices(candidates(curve.points, X[axis.name.split("/")[1]], axis.statistic, axis.rate))


def plane(label: str, curve: Curve, axis: Axis, *, seed: int, draws: int) -> Plane:
    """Draws move the vertices of the frontier as it was measured; dominated loads stay out."""
    found = vertices_of(curve, axis)
    random = noise.random_of(curve, seed, draws)
    by_id = {point.id: point for point in curve.points}
    xs, ys = [], []
    for vertex in found:
        points = [by_id[name] for name in vertex.points]
        xs.append(noise.source(random, axis.metric, points, [_latency(point, axis) for point in points]))
        ys.append(noise.source(random, axis.rate, points, [point.rates[axis.rate] for point in points]))
    x_sources, y_sources = _all(xs), _all(ys)
    if not found or x_sources is None or y_sources is None:
        return Plane(label, curve, found, None, (), random)
    sign = -1.0 if axis.inverse else 1.0
    ln_x = np.stack([np.log(vertex.x) + sign * one.ln for vertex, one in zip(found, x_sources, strict=True)], axis=1)
    ln_y = np.stack([np.log(vertex.y) + one.ln for vertex, one in zip(found, y_sources, strict=True)], axis=1)
    return Plane(label, curve, found, fan.fan(ln_x, ln_y), (*x_sources, *y_sources), random)


def window(planes: Iterable[Plane]) -> tuple[float, float] | None:
    """The x that every frontier covers; None where they share no more than a point."""
    ends = [(each.vertices[0].x, each.vertices[-1].x) for each in planes if each.vertices]
    if not ends:
        return None
    low, high = max(first for first, _ in ends), min(last for _, last in ends)
    return (low, high) if low < high else None


def _latency(point: Point, axis: Axis) -> Estimate:
    return point.metrics[axis.metric][axis.statistic]


def _all(found: Sequence[noise.Source | None]) -> list[noise.Source] | None:
    kept = [one for one in found if one is not None]
    return kept if len(kept) == len(found) else None
