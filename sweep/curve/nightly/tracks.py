"""Is tonight like the nights before? Two tests at once: the curve as a whole, and each point for itself.

Curve track: c = median over the loads of (y − median of the baseline), so a shift of the whole curve is seen through the
noise of its points, and one wild point moves nothing. It is compared with the spread s of the same statistic over past nights,
each against the others of its block (leave one out).

Point track: z of each load, its spread shrunk to the pooled one of its metric with `PRIOR_FREEDOM` degrees of freedom (Smyth
2004, "Linear models and empirical Bayes methods", Stat. Appl. Genet. Mol. Biol. 3).

Of n nights a median varies 1.57 times as much as a mean: π/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from sweep.curve.nightly.series import Floats, against_the_others, mean, median

MIN_NIGHTS = 8
MEDIAN_COST = 1.57
SPREAD_FLOOR = 0.003
PRIOR_FREEDOM = 10.0


@dataclass(frozen=True, slots=True)
class Reference:
    """What a night is compared with. Arrays are metrics × loads or metrics; NaN where a load has too few nights."""

    middle: Floats
    mean: Floats
    own_variance: float  # of the middle, in units of the curve's variance: 1.57/B
    count: Floats  # nights behind a load's mean
    curve_spread: Floats
    curve_freedom: float
    point_spread: Floats
    point_freedom: Floats

    def judgeable(self, y: Floats) -> int:
        """How many figures (metric and load) of a night can be tested."""
        return int(np.isfinite(y - self.mean).sum())


@dataclass(frozen=True, slots=True)
class Tested:
    """Effects (+ is worse), their standard errors, and p of an effect so large in the direction of its sign."""

    effect: Floats
    error: Floats
    freedom: Floats
    p_worse: Floats
    p_better: Floats


def reference(y: Floats, baseline: Sequence[int], blocks: Sequence[Sequence[int]], fixed: Floats | None = None) -> Reference:
    """`baseline`: the nights a night is compared with. `blocks`: groups of nights on one level, whose inner spread is the noise.

    `fixed`: one night (metrics × loads) to compare with instead of the baseline's middle; it brings a night's own noise along.
    """
    base = y[list(baseline)]
    count = np.isfinite(base).sum(axis=0).astype(np.float64)
    known = count >= MIN_NIGHTS
    middle = np.where(known, median(base, 0), np.nan)
    average = np.where(known, mean(base, 0), np.nan)
    spread, freedom = _curve_spread(y, blocks, known)
    point_spread, point_freedom = _point_spread(base, average, count)
    if fixed is not None:
        middle = average = np.where(known, fixed, np.nan)
        count = np.where(known, 1.0, np.nan)
    own = MEDIAN_COST / max(1, len(baseline)) if fixed is None else 1.0
    return Reference(middle, average, own, count, spread, freedom, point_spread, point_freedom)


def curve_track(against: Reference, nights: Floats) -> Tested:
    """One or several nights (nights × metrics × loads), averaged, as one statistic a metric."""
    effect = mean(median(nights - against.middle, -1), 0)
    error = against.curve_spread * np.sqrt(1 / len(nights) + against.own_variance)
    return _tested(effect, error, np.full(effect.shape, against.curve_freedom))


def point_track(against: Reference, nights: Floats) -> Tested:
    """The same load by load."""
    effect = mean(nights, 0) - against.mean
    error = against.point_spread * np.sqrt(1 / len(nights) + 1 / np.maximum(against.count, 1.0))
    return _tested(effect, error, np.broadcast_to(against.point_freedom[:, None], effect.shape))


def _tested(effect: Floats, error: Floats, freedom: Floats) -> Tested:
    t = effect / error
    return Tested(effect, error, freedom, special.stdtr(freedom, -t), special.stdtr(freedom, t))


def _curve_spread(y: Floats, blocks: Sequence[Sequence[int]], known: Floats) -> tuple[Floats, float]:
    """The night-to-night sd of the curve statistic, pooled over the blocks, and its degrees of freedom."""
    squares = np.zeros(y.shape[1])
    freedom = 0.0
    for block in blocks:
        residual = median(np.where(known, against_the_others(y[list(block)]), np.nan), -1)
        others = len(block) - 1
        centred = residual - mean(residual, 0)
        squares += np.nansum(centred**2, axis=0) / (1 + MEDIAN_COST / others)
        freedom += others
    return np.maximum(np.sqrt(squares / max(freedom, 1.0)), SPREAD_FLOOR), freedom


def _point_spread(base: Floats, average: Floats, count: Floats) -> tuple[Floats, Floats]:
    """A load's own sd, shrunk to that of all loads of its metric."""
    squares = np.nansum((base - average) ** 2, axis=0)
    freedom = np.where(np.isfinite(average), count - 1, 0.0)
    pooled = squares.sum(axis=-1, keepdims=True) / np.maximum(freedom.sum(axis=-1, keepdims=True), 1.0)
    spread = np.sqrt((PRIOR_FREEDOM * pooled + squares) / (PRIOR_FREEDOM + freedom))
    return np.maximum(spread, SPREAD_FLOOR), PRIOR_FREEDOM + freedom.max(axis=-1)
