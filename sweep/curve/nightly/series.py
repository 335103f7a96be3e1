"""Nights side by side: y = ln value, turned so that + is worse; nights × metrics × loads, NaN where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.curve.nightly.metric import Metric
from sweep.model import Load, Night

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    metrics: tuple[Metric, ...]
    loads: tuple[Load, ...]
    y: Floats  # nights × metrics × loads


def series(nights: Sequence[Night], metrics: Sequence[Metric]) -> Series:
    """Every load that any night has; a disqualified one has no values that night."""
    loads = sorted({cell.load for night in nights for cell in night.cells}, key=lambda load: (load.kind, load.level))
    place = {load: index for index, load in enumerate(loads)}
    y = np.full((len(nights), len(metrics), len(loads)), np.nan)
    for row, night in enumerate(nights):
        for cell in night.cells:
            for column, metric in enumerate(metrics):
                value = cell.values.get(metric.name)
                if value is not None:
                    y[row, column, place[cell.load]] = value
    signs = np.array([metric.sign for metric in metrics], np.float64)
    return Series(tuple(metrics), tuple(loads), signs[:, None] * np.log(y))


def median(values: Floats, axis: int) -> Floats:
    """The median of what is there; NaN where nothing is."""
    ordered = np.sort(values, axis=axis)  # NaN come last
    count = np.isfinite(values).sum(axis=axis, keepdims=True)
    low, high = (
        np.take_along_axis(ordered, np.maximum(place, 0), axis) for place in ((count - 1) // 2, count // 2 - (count == 0))
    )
    middle: Floats = np.squeeze((low + high) / 2, axis)
    return middle


def mean(values: Floats, axis: int) -> Floats:
    """The mean of what is there; NaN where nothing is."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    result: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return result


def against_the_others(values: Floats) -> Floats:
    """Each night minus the median of the other nights (axis 0), load by load: leave one out without doing it n times.

    Without its row a sorted column loses one place, so the others' median lies one further up when the row was below it.
    """
    nights = len(values)
    order = np.argsort(values, axis=0)
    rank = np.argsort(order, axis=0)
    ordered = np.take_along_axis(values, order, 0)
    others = np.isfinite(values).sum(axis=0, keepdims=True) - 1
    middle = np.zeros_like(values)
    for place in ((others - 1) // 2, others // 2):
        place = np.clip(place, 0, nights - 1)
        middle += np.take_along_axis(ordered, np.minimum(place + (place >= rank), nights - 1), 0) / 2
    result: Floats = np.where(others > 0, values - middle, np.nan)
    return result
