"""Is a series steady? Truncation of its start, trend, and disagreement of its halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

MSER_BATCH = 5


def mser5(x: Floats) -> int:
    """How many leading values to drop: the truncation that minimises the marginal standard error of the rest.

    argmin over k < n/2 of Σ_{i>k}(z_i − mean_k)² / (n − k)², z the means of batches of five. White (1997), "An effective
    truncation heuristic for bias reduction in simulation output", Simulation 69(6).
    """
    batches = len(x) // MSER_BATCH
    if batches < 2:
        return 0
    z = x[: batches * MSER_BATCH].reshape(batches, MSER_BATCH).mean(axis=1)
    z = z - z.mean()  # the statistic does not change; the difference of squares below then loses no digits
    left = np.arange(batches, 0, -1)
    total = np.cumsum(z[::-1])[::-1]
    squares = np.cumsum((z * z)[::-1])[::-1]
    statistic = (squares - total * total / left) / left.astype(np.float64) ** 2
    return int(np.argmin(statistic[: (batches + 1) // 2])) * MSER_BATCH


@dataclass(frozen=True, slots=True)
class Trend:
    """Sen's slope per step and the two-sided p-value of "there is no trend"."""

    slope: float
    p: float


def trend(y: Floats) -> Trend:
    """Mann-Kendall with the variance corrected for autocorrelation.

    Hamed & Rao (1998), "A modified Mann-Kendall trend test for autocorrelated data", J. Hydrology 204: the variance of S is
    multiplied by 1 + 2/(n(n−1)(n−2))·Σ(n−i)(n−i−1)(n−i−2)·ρ_i over the autocorrelations of the detrended ranks that are
    significant at 5 %. The factor is kept at 1 or above: a test that decides against a point never grows sharper by
    negative correlation.
    """
    n = len(y)
    if n < 4:
        return Trend(0.0, 1.0)
    i, j = np.triu_indices(n, 1)
    differences = y[j] - y[i]
    slope = float(np.median(differences / (j - i)))
    s = float(np.sign(differences).sum())
    ties = np.unique(y, return_counts=True)[1].astype(np.float64)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0 or s == 0:
        return Trend(slope, 1.0)
    variance *= max(1.0, _hamed_rao_factor(y - slope * np.arange(n)))
    z = (abs(s) - 1) / np.sqrt(variance)
    return Trend(slope, float(2 * special.ndtr(-z)))


def _hamed_rao_factor(detrended: Floats) -> float:
    n = len(detrended)
    ranks = np.empty(n)
    ranks[np.argsort(detrended, kind="stable")] = np.arange(n)
    ranks -= ranks.mean()
    rho = np.correlate(ranks, ranks, mode="full")[n:] / float(ranks @ ranks)
    lag = np.arange(1, n)
    significant = np.abs(rho) > 1.96 / np.sqrt(n)
    weights = ((n - lag) * (n - lag - 1) * (n - lag - 2))[significant]
    return float(1 + 2 / (n * (n - 1) * (n - 2)) * (weights * rho[significant]).sum())


@dataclass(frozen=True, slots=True)
class Halves:
    """Relative difference of the second half's mean from the first's, and the p-value of "they are equal"."""

    change: float
    p: float


def halves(y: Floats) -> Halves:
    """Welch's t-test between the halves of a series of batch means (the middle value of an odd series is left out)."""
    half = len(y) // 2
    if half < 3:
        return Halves(0.0, 1.0)
    first, second = y[:half], y[-half:]
    difference = float(second.mean() - first.mean())
    base = abs(float(first.mean()))
    change = difference / base if base > 0 else 0.0
    a, b = first.var(ddof=1) / half, second.var(ddof=1) / half
    if a + b == 0:
        return Halves(change, 1.0 if difference == 0 else 0.0)
    freedom = (a + b) ** 2 / ((a**2 + b**2) / (half - 1))
    return Halves(change, float(2 * special.stdtr(freedom, -abs(difference) / np.sqrt(a + b))))
