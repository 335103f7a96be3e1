"""Loads that were measured more than once: what their repeats say together.

The interval of one cell knows the noise inside its run. Between runs more may differ (which prompts, what was cached, how a
restart laid out memory), and only repeats show that: Student's t over the values of the repeats, and Welch's test where two
loads are put side by side. At three repeats a percentile bootstrap would cover 80 % instead of 95 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.measure.quantile import ALPHA
from sweep.model import Estimate, Point, Repeated

PERCENTILES = ("ttft_s.p50", "ttft_s.p99", "tpot_s.p50", "tpot_s.p99", "e2e_s.p50", "e2e_s.p99")


def repeats(points: Sequence[Point]) -> tuple[Repeated, ...]:
    """Every load with two or more qualified points, by level."""
    qualified = sorted((point for point in points if not point.disqualified), key=lambda point: (point.cell, point.repeat))
    loads = sorted({point.load for point in qualified}, key=lambda load: (load.kind, load.level))
    together = ([point for point in qualified if point.load == load] for load in loads)
    return tuple(_repeated(own) for own in together if len(own) > 1)


def _repeated(own: Sequence[Point]) -> Repeated:
    readings = {"output_tok_per_s": [point.rate("output_tok_per_s") for point in own]}
    for key in PERCENTILES:
        metric, percentile = key.split(".")
        readings[key] = [point.statistic(metric, percentile) for point in own]
    return Repeated(
        load=own[0].load,
        points=tuple(point.id for point in own),
        estimates={key: over(found) for key, found in readings.items()},
    )


def over(estimates: Sequence[Estimate]) -> Estimate:
    """Mean of the values of repeats with Student's t between them; no interval for less than two."""
    from scipy import special

    values = [one.value for one in estimates if one.value is not None]
    b, n, few = len(values), sum(one.n for one in estimates), any(one.few for one in estimates)
    if b < 2:
        return Estimate(value=values[0] if values else None, n=n, few=True)
    half = float(special.stdtrit(b - 1, 1 - ALPHA / 2) * np.std(values, ddof=1) / np.sqrt(b))
    mean = float(np.mean(values))
    return Estimate(value=mean, low=mean - half, high=mean + half, n=n, n_eff=float(b), few=few)


def difference(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """mean(b) − mean(a) with Welch's interval; both sides need two repeats.

    Welch (1947), "The generalization of Student's problem when several different population variances are involved".
    """
    from scipy import special

    va, vb = np.var(a, ddof=1) / len(a), np.var(b, ddof=1) / len(b)
    value = float(np.mean(b) - np.mean(a))
    if va + vb == 0:
        return Estimate(value=value, low=value, high=value, n=len(a) + len(b))
    freedom = float((va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)))
    half = float(special.stdtrit(freedom, 1 - ALPHA / 2) * np.sqrt(va + vb))
    return Estimate(value=value, low=value - half, high=value + half, n=len(a) + len(b), n_eff=freedom)
