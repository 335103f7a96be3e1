"""What the page's chart draws, as plain numbers: every axis, every curve, its points, its line and the band around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sweep.curve.compare import fan
from sweep.curve.compare.plane import Axis, axis_of, named_axis, vertices_of
from sweep.curve.frontier import AXES, Candidate, X, candidates
from sweep.model import Bound, Curve, Estimate, Point, Slo
from sweep.report import axis as unit_of
from sweep.report import quantity, words
from sweep.wording import short

SAMPLES = 48  # of a line, evenly in ln x
DIGITS = 7
NAME_LENGTH = 28


def shown(labelled: Mapping[str, Curve], axis: str | None, slos: Sequence[Slo]) -> dict[str, Any]:
    """`labelled`: curves with all text made harmless. The document that the page's script reads."""
    curves = list(labelled.values())
    axes = [named_axis(curves, name) for name in AXES]
    drawn = {each.name: numbers(each, labelled) for each in axes}
    kept = {name: each for name, each in drawn.items() if any(curve["points"] for curve in each["curves"].values())}
    first = axis or axis_of(curves, None).name
    return {
        "axis": first if first in kept else next(iter(kept), AXES[0]),
        "axes": kept or {AXES[0]: drawn[AXES[0]]},
        "rate_unit": curves[0].endpoint.rate_unit,
        "sides": [side(label, curve, len(labelled) > 1) for label, curve in labelled.items()],
        "slos": [
            {"name": quantity.slo_name(slo), "bounds": msgspec.to_builtins(slo.bounds)} for slo in slos or [_suggested(curves)]
        ],
    }


def titles(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The axes on offer, named as a reader would: name, `output throughput against interactivity…`."""
    return [
        (name, f"{unit_of.bare(each['y_label'])} against {unit_of.bare(each['x_label'])}")
        for name, each in document["axes"].items()
    ]


def side(label: str, curve: Curve, many: bool) -> dict[str, Any]:
    """What a side is called, where there is room and where there is not."""
    name = short(curve.endpoint.model if not many else curve.name, NAME_LENGTH)
    return {
        "label": label,
        "name": curve.name,
        "short": f"{label} {name}" if many else name,
        "title": f"{label}: {curve.name}, {curve.endpoint.model}" if many else curve.endpoint.model,
    }


def _suggested(curves: Sequence[Curve]) -> Slo:
    """Somewhere between what these curves can and cannot meet, in round numbers: a start for the reader's own."""
    bounds = []
    for metric in ("ttft", "tpot"):
        medians = sorted(
            estimate.value
            for curve in curves
            for point in curve.points
            if (estimate := point.metrics.get(f"{metric}_s", {}).get("p50")) is not None and estimate.value
        )
        if medians:
            limit_s = float(f"{2 * medians[len(medians) // 2]:.1g}")
            bounds.append(Bound(metric=metric, limit_s=limit_s, quantile=0.9))
    return Slo(name="", bounds=tuple(bounds))


def numbers(axis: Axis, labelled: Mapping[str, Curve]) -> dict[str, Any]:
    """What is drawn on one axis: labels and, for every curve, points, vertices, the line and the limits of its band."""
    return {
        "x_label": axis.x_label,
        "x_unit": unit_of.unit(axis.x_label),
        "y_label": axis.y_label,
        "curves": {label: _curve(axis, curve) for label, curve in labelled.items()},
    }


def _curve(axis: Axis, curve: Curve) -> dict[str, Any]:
    kept = {one.ids: one for one in candidates(curve.points, X[axis.name.split("/")[1]], axis.statistic, axis.rate)}
    found = vertices_of(curve, axis)
    on = [_candidate(vertex.points, kept) for vertex in found]
    return {
        "points": [place for point in quantity.by_load(curve.points) if (place := _point(axis, point)) is not None],
        "vertices": [[_round(vertex.x), _round(vertex.y)] for vertex in found],
        "line": _line([(vertex.x, vertex.y) for vertex in found]),
        "low": _line([(one.x.low or one.x.value, one.y.low or one.y.value) for one in on]),
        "high": _line([(one.x.high or one.x.value, one.y.high or one.y.value) for one in on]),
    }


def _candidate(ids: tuple[str, ...], kept: Mapping[tuple[str, ...], Candidate]) -> Candidate:
    """Equal vectors share a vertex; any of them has its place."""
    return kept[ids] if ids in kept else next(one for own, one in kept.items() if set(own) <= set(ids))


def _line(places: Sequence[tuple[float, float]]) -> list[list[float]]:
    """The frontier through these, sampled."""
    if not places or any(x <= 0 or y <= 0 for x, y in places):
        return []
    one = fan.fan(np.log([[x for x, _ in places]]), np.log([[y for _, y in places]]))
    count = int(one.count[0])
    if len(places) == 1:
        return [[_round(float(np.exp(one.x[0, 0]))), _round(float(np.exp(one.y[0, 0])))]]
    leftmost = np.log(min(x for x, _ in places))  # left of its first vertex a frontier is flat
    at = np.union1d(np.linspace(leftmost, one.last[0], SAMPLES), one.x[0, :count])
    return [[_round(float(x)), _round(float(y))] for x, y in zip(np.exp(at), np.exp(fan.along(one, at)), strict=True)]


def _point(axis: Axis, point: Point) -> dict[str, Any] | None:
    across, up = point.metrics.get(axis.metric, {}).get(axis.statistic), point.rates.get(axis.rate)
    if across is None or up is None or not across.value or not up.value or across.value <= 0 or up.value <= 0:
        return None
    low, value, high = _oriented(across, axis.inverse)
    return {
        "id": point.id,
        "level": point.load.level,
        "load": quantity.level(point.load) + (f", repeat {point.repeat + 1}" if point.repeat else ""),
        "x": _round(value),
        "x_low": _round(low),
        "x_high": _round(high),
        "y": _round(up.value),
        "y_low": _round(up.low),
        "y_high": _round(up.high),
        "few": across.few,
        "disqualified": point.disqualified,
        "findings": [words.said(finding) for finding in point.findings],
    }


def _oriented(each: Estimate, inverse: bool) -> tuple[float | None, float | None, float | None]:
    if not inverse:
        return each.low, each.value, each.high
    turned = [1 / end if end else None for end in (each.high, each.value, each.low)]
    return turned[0], turned[1], turned[2]


def _round(value: Any) -> Any:
    return None if value is None else float(f"{value:.{DIGITS}g}")
