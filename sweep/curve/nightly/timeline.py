"""The curve statistic of each metric over all nights, as a reader wants it: relative to one baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sweep.curve.nightly import drift
from sweep.curve.nightly.alarm import relative
from sweep.curve.nightly.metric import Metric
from sweep.curve.nightly.series import Floats, Series, median
from sweep.curve.nightly.tracks import reference
from sweep.model import Timeline

BEST_OF = 5  # nights a level must have held to be the best ever: one lucky night is none


@dataclass(frozen=True, slots=True)
class Band:
    """Of one night, by metric: the curve statistic, and the effect (either way) that raises an alarm."""

    effect: Floats
    limit: Floats


def timelines(
    table: Series, bands: Sequence[Band | None], level: Sequence[int], baseline: Sequence[int], nights_per_alarm: int
) -> tuple[Timeline, ...]:
    """`level`: the accepted nights of the present level; `baseline`: the nights that all are shown against."""
    rows = list(baseline) or list(range(len(table.y)))
    index = median(table.y - median(table.y[rows], 0), -1) if rows else np.empty((0, len(table.metrics)))
    drifts = _drifts(table, level, nights_per_alarm)
    return tuple(_timeline(metric, index[:, place], bands, place, drifts[place]) for place, metric in enumerate(table.metrics))


def _timeline(metric: Metric, index: Floats, bands: Sequence[Band | None], place: int, drifting: int | None) -> Timeline:
    worse: list[float | None] = []
    better: list[float | None] = []
    for value, band in zip(index, bands, strict=True):
        known = band is not None and np.isfinite(band.limit[place] + band.effect[place] + value)
        middle = value - band.effect[place] if band is not None and known else np.nan
        worse.append(_change(metric, middle + band.limit[place]) if band is not None else None)
        better.append(_change(metric, middle - band.limit[place]) if band is not None else None)
    low, high = (better, worse) if metric.sign > 0 else (worse, better)
    best, best_night, latest = _best(index)
    return Timeline(
        metric=metric.name,
        title=metric.title,
        more_is_better=metric.sign < 0,
        change=tuple(_change(metric, value) for value in index),
        low=tuple(low),
        high=tuple(high),
        best=_change(metric, best),
        best_night=best_night,
        latest=_change(metric, latest),
        drift=drifting,
    )


def _change(metric: Metric, effect: float) -> float | None:
    return relative(metric, float(effect)) if np.isfinite(effect) else None


def _best(index: Floats) -> tuple[float, int | None, float]:
    """The lowest median of `BEST_OF` nights in a row and its last night, and the median of the latest ones."""
    places = np.flatnonzero(np.isfinite(index))
    if len(places) < BEST_OF:
        return np.nan, None, np.nan
    levels = np.median(np.lib.stride_tricks.sliding_window_view(index[places], BEST_OF), axis=1)
    best = int(np.argmin(levels))
    return float(levels[best]), int(places[best + BEST_OF - 1]), float(levels[-1])


def _drifts(table: Series, level: Sequence[int], nights_per_alarm: int) -> list[int | None]:
    """By metric, the night from which a drift is advised; the first nights of the level are the frozen reference."""
    frozen, later = list(level[: drift.REFERENCE_NIGHTS]), list(level[drift.REFERENCE_NIGHTS :])
    if not later:
        return [None] * len(table.metrics)
    against = reference(table.y, frozen, [frozen])
    z = median(table.y - against.middle, -1) / against.curve_spread
    limit = drift.threshold(nights_per_alarm * len(table.metrics))
    return [drift.begins(z[:, place], later, limit) for place in range(len(table.metrics))]
