"""Where a point contradicts its own joint table and histograms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sweep.curve.rounded import same
from sweep.curve.stored import histogram_of
from sweep.measure import histogram, joint, loglinear
from sweep.measure.quantile import QUANTILES, proportion_limits, rank
from sweep.model import Estimate, Outcome, Point

CELL = 1.5e-3  # a histogram cell, and its samples were rounded to µs


def table_problems(point: Point, table: joint.Joint) -> Iterator[str]:
    if table.n + table.failed != point.cohort:
        yield f"the joint table holds {table.n + table.failed} requests for a cohort of {point.cohort}"
    if table.n > point.outcomes.get(Outcome.OK, 0):
        yield f"the joint table holds {table.n} answers where {point.outcomes.get(Outcome.OK, 0)} ended well"
    if point.osl.mean is not None and not same(table.total_tokens, point.osl.mean * point.osl.n):
        yield f"the joint table holds {table.total_tokens} output tokens, not {point.osl.mean * point.osl.n:.0f}"
    for metric in ("ttft", "tpot", "e2e"):
        if f"{metric}_s" in point.histograms and not _marginal_agrees(point, table, metric):
            yield f"{metric}_s: histogram and joint table are not of the same requests"


def _marginal_agrees(point: Point, table: joint.Joint, metric: str) -> bool:
    """Cumulative counts: the table rounds µs up, the histogram to the nearest. An answer without TPOT may be in the table only."""
    held = histogram_of(point, f"{metric}_s").counts
    edges = loglinear.high_edge(np.arange(len(held), dtype=np.int64))
    low_us, high_us = joint.edges_us(table, metric)
    without = int(table.counts[high_us == 0].sum()) if metric == "tpot" else 0
    below = np.cumsum(held)
    surely, perhaps = _up_to(high_us, table.counts, edges), _up_to(low_us, table.counts, edges + 1)
    return bool((below <= perhaps).all() and (_lost(point) or (below >= surely - without).all()))


def _up_to(us: NDArray[np.int64], counts: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many lie at or below each edge."""
    order = np.argsort(us)
    running: NDArray[np.int64] = np.concatenate([[0], np.cumsum(counts[order])])
    return running[np.searchsorted(us[order], edges, side="right")]


def histogram_problems(point: Point, metric: str, stored: histogram.Histogram, alone: bool) -> Iterator[str]:
    known, n = point.metrics.get(metric, {}), stored.total
    lost = _lost(point)
    for name, one in known.items():
        if one.n != n and not lost and one.value is not None:
            yield f"{metric} {name} is of {one.n} samples, its histogram of {n}"
        low_s, high_s = _read(stored, name)
        if one.value is not None and (low_s is None or high_s is None or not _between(one.value, low_s, high_s)):
            yield f"{metric} {name} is {one.value:.6g}, by its histogram {'nothing' if high_s is None else f'{high_s:.6g}'}"
        if name in QUANTILES and alone and n and not lost and not _interval_agrees(stored, QUANTILES[name], one):
            yield f"the interval of {metric} {name} is not that of {one.n_eff or 0:.6g} effective samples"


def _read(stored: histogram.Histogram, statistic: str) -> tuple[float | None, float | None]:
    """The least and the most that a statistic can be, in seconds."""
    cells = np.flatnonzero(stored.counts)
    if not len(cells):
        return None, None
    low, high = loglinear.low_edge(cells) / 1e6, loglinear.high_edge(cells) / 1e6
    weights = stored.counts[cells] / stored.total
    match statistic:
        case "mean":
            return float((low * weights).sum()), float((high * weights).sum())
        case "min" | "max":
            place = 0 if statistic == "min" else -1
            return float(low[place]), float(high[place])
        case name if name in QUANTILES:
            us = histogram.percentile_us(stored, QUANTILES[name])
            return (None, None) if us is None else (us / 1e6, us / 1e6)
    return 0.0, float("inf")  # a statistic of a later version


def _between(value: float, low_s: float, high_s: float) -> bool:
    return low_s * (1 - CELL) - 2e-6 <= value <= high_s * (1 + CELL) + 2e-6


def _interval_agrees(stored: histogram.Histogram, q: float, one: Estimate) -> bool:
    """The limits are the order statistics that its effective sample size names, or their neighbours: it is stored in nine digits."""
    if one.n_eff is None or one.low is None:
        return True
    n = stored.total
    p_low, p_high = proportion_limits(q, one.n_eff)
    return _is_order_statistic(stored, rank(p_low, n), one.low) and (
        one.high is None or _is_order_statistic(stored, int(p_high * n + 1e-9) + 1, one.high)
    )


def _is_order_statistic(stored: histogram.Histogram, place: int, seconds: float) -> bool:
    low, high = (
        histogram.percentile_us(stored, min(max(near, 1), stored.total) / stored.total) for near in (place - 1, place + 1)
    )
    return low is not None and high is not None and _between(seconds, low / 1e6, high / 1e6)


def _lost(point: Point) -> bool:
    """Some of its durations are in no histogram."""
    return any(finding.code == "out-of-range" for finding in point.findings)
