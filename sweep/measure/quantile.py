"""Percentiles, means and shares of one run's autocorrelated samples, each with a 95 % interval that holds.

The percentile of n values is the inverted CDF: an observed value. Its interval is Woodruff's inversion of Korn & Graubard's
limits for a proportion ("Confidence intervals for proportions with small expected number of positive counts", Survey
Methodology 24, 1998), with the design effect of batch means in sending order, so that a queue's memory widens it. Batches
of a short window still remember each other, since requests in flight together share their pace: `memory` widens for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.model import Estimate

Floats = NDArray[np.float64]

BATCHES = 10
ALPHA = 0.05
MIN_BATCHED = 20  # fewer values say nothing about their correlation
MIN_MEDIAN = 6
MIN_BEYOND = 10  # values beyond a tail percentile
MOST_MEMORY = 0.6  # correlation of neighbouring batches; more cannot be told from a drift by ten of them
QUANTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

_Z = 1.959963984540054  # normal quantile of 1 − ALPHA/2 …
_T = 2.262157162798205  # … and Student's, of BATCHES − 1 degrees of freedom
_ROUND = 1e-9  # so that 0.9·10 is 9, not the next rank


def rank(q: float, n: int) -> int:
    """The inverted CDF's place in n sorted values, from 1."""
    return max(1, int(np.ceil(q * n - _ROUND)))


def is_few(q: float, n: int) -> bool:
    """Too few for the percentile to decide anything."""
    return n < MIN_MEDIAN or (q > 0.5 and n * (1 - q) < MIN_BEYOND - _ROUND)


def design_effect(inside: NDArray[np.bool_], p: float) -> float:
    """How many correlated values are worth one independent value: m·Var(batch means)·memory/(p(1−p)), ten batches; at least 1.

    `inside` in sending order. The factor (t₉/z)² pays for estimating it from ten batches.
    """
    n = len(inside)
    effect = 1.0
    if n >= MIN_BATCHED and 0 < np.count_nonzero(inside) < n:
        m = n // BATCHES
        means = inside[: m * BATCHES].reshape(BATCHES, m).mean(axis=1)
        effect = max(1.0, memory(means) * m * float(means.var(ddof=1)) / (p * (1 - p)))
    return effect * (_T / _Z) ** 2


def memory(batches: Floats) -> float:
    """How much the variance of the mean exceeds that of independent batches: (1 + φ)/(1 − φ), 1 to 4.

    φ is the correlation of neighbours, its small-sample bias −(1 + 4φ)/b undone (Marriott & Pope, "Bias in the estimation of
    autocorrelations", Biometrika 41, 1954); batch means are so taken for an AR(1), as Tafazzoli and Wilson do ("Skart: a
    skewness- and autoregression-adjusted batch-means procedure", IIE Transactions 43, 2011).
    """
    b = len(batches)
    x = batches - batches.mean()
    squares = float(x @ x)
    if b <= 4 or squares == 0:
        return 1.0
    phi = (b * float(x[1:] @ x[:-1]) / squares + 1) / (b - 4)
    phi = min(max(phi, 0.0), MOST_MEMORY)
    return (1 + phi) / (1 - phi)


def proportion_limits(p: float, n_eff: float) -> tuple[float, float]:
    """Limits of a true proportion when p of n_eff independent trials succeeded."""
    from scipy import special

    k = p * n_eff
    low = 0.0 if k <= 0 else float(special.betaincinv(k, n_eff - k + 1, ALPHA / 2))
    high = 1.0 if k >= n_eff else float(special.betaincinv(k + 1, n_eff - k, 1 - ALPHA / 2))
    return low, high


def quantile(x: Floats, q: float, ordered: Floats | None = None) -> Estimate:
    """The q-quantile of x (in sending order); `ordered` is x sorted, when the caller has it. NaN is not allowed."""
    n = len(x)
    if n == 0:
        return Estimate(value=None, few=True)
    if ordered is None:
        ordered = np.sort(x)
    value = float(ordered[rank(q, n) - 1])
    n_eff = n / design_effect(x <= value, q)
    p_low, p_high = proportion_limits(q, n_eff)
    low = float(ordered[rank(p_low, n) - 1])
    above = int(p_high * n + _ROUND) + 1
    unbounded = q**n_eff > ALPHA / 2 or above > n
    high = None if unbounded else float(ordered[above - 1])
    return Estimate(value=value, low=low, high=high, n=n, n_eff=n_eff, few=is_few(q, n))


def mean(x: Floats) -> Estimate:
    """The mean of x (in sending order) with Student's t over ten batch means, over the values when there are under twenty."""
    n = len(x)
    if n == 0:
        return Estimate(value=None, few=True)
    value = float(x.mean())
    if not np.isfinite(value):
        return Estimate(value=None, n=n, few=True)
    m = n // BATCHES if n >= MIN_BATCHED else 1
    batches = x[: m * (n // m)].reshape(-1, m).mean(axis=1)[: BATCHES if m > 1 else n]
    half = _t_half_width(batches)
    if half is None:
        return Estimate(value=value, n=n, few=True)
    return Estimate(value=value, low=value - half, high=value + half, n=n, few=n < MIN_MEDIAN)


def share(inside: NDArray[np.bool_]) -> Estimate:
    """The share of trues (in sending order) with the same limits."""
    n = len(inside)
    if n == 0:
        return Estimate(value=None, few=True)
    p = int(np.count_nonzero(inside)) / n
    n_eff = n / design_effect(inside, p)
    low, high = proportion_limits(p, n_eff)
    return Estimate(value=p, low=low, high=high, n=n, n_eff=n_eff, few=n < MIN_MEDIAN)


def rate(per_bin: Floats, bin_s: float, n: int) -> Estimate:
    """Events per second from counts in equal time bins, Student's t over the bins; n is how many were counted."""
    per_s = per_bin / bin_s
    value = float(per_s.mean())
    half = _t_half_width(per_s)
    few = n < MIN_BEYOND
    if half is None:
        return Estimate(value=value, n=n, few=few)
    return Estimate(value=value, low=max(0.0, value - half), high=value + half, n=n, few=few)


def _t_half_width(batches: Floats) -> float | None:
    from scipy import special

    b = len(batches)
    if b < 2:
        return None
    return float(special.stdtrit(b - 1, 1 - ALPHA / 2) * batches.std(ddof=1) / np.sqrt(b))


def summary(x: Floats) -> dict[str, Estimate]:
    """mean, min, every percentile and max of x (in sending order)."""
    ordered = np.sort(x)
    n = len(x)
    extreme = {"min": ordered[0], "max": ordered[-1]} if n else {"min": None, "max": None}
    return {
        "mean": mean(x),
        **{name: quantile(x, q, ordered) for name, q in QUANTILES.items()},
        **{
            name: Estimate(value=None if value is None else float(value), n=n, few=n < MIN_MEDIAN)
            for name, value in extreme.items()
        },
    }


def loadgen_estimate(x: Floats, q: float) -> float | None:
    """MLPerf LoadGen's early-stopping estimate of a latency percentile; None below its floor (q = 0.9: 64 values).

    The largest t with P(Binomial(n, 1−q) ≤ t) < 0.01 values may lie beyond it: sorted[n − t]. Source: LoadGen's
    early_stopping.cc, confidence 0.99, no tolerance.
    """
    from scipy import special

    n = len(x)
    passing = np.flatnonzero(special.bdtr(np.arange(n + 1), n, 1 - q) < 0.01)
    if len(passing) == 0 or passing[-1] < 1:
        return None
    return float(np.sort(x)[n - int(passing[-1])])
