"""Which measured load meets an SLO that may be younger than the file, and where between two loads it ceases to hold.

A load's answer comes from its joint tables: counts of requests that keep every bound, as a bracket that contains the records'
own count (exact up to 5,000 requests). Failures keep no bound. A percentile bound is a statement about a share and is met,
missed or undecided by the share's interval, whose effective sample size is the one measured for that metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sweep.curve.stored import histogram_of, table_of
from sweep.measure import goodput, histogram, joint, quantile
from sweep.model import Bound, Curve, Estimate, Point, Slo, Verdict3


@dataclass(frozen=True, slots=True)
class Judged:
    """One load with all its repeats. `good`: bracket of the requests that keep every bound; None where a table is missing."""

    level: float
    points: tuple[str, ...]
    verdict: Verdict3
    cohort: int
    good: tuple[int, int] | None
    attainment: Estimate
    goodput_req_per_s: Estimate


@dataclass(frozen=True, slots=True)
class Boundary:
    """The load at which the SLO ceases to hold: between `meets` and `fails`, which were measured; `level` is interpolated."""

    meets: float
    fails: float
    level: float
    bound: Bound  # the one that breaks first


@dataclass(frozen=True, slots=True)
class Pick:
    """`highest`: the highest measured load that meets the SLO; `best`: the load of the highest goodput under it.

    `boundary` is None where no load meets it, or where the highest measured one does.
    """

    slo: Slo
    verdict: Verdict3
    highest: Judged | None
    boundary: Boundary | None
    best: Judged | None
    loads: tuple[Judged, ...]

    @property
    def unreachable(self) -> bool:
        """Whether every measured load misses it."""
        return self.verdict == "missed"


def pick(curve: Curve, slo: Slo) -> Pick:
    """Disqualified points answer nothing. Raises ArtifactError where a table or histogram does not hold."""
    trusted = sorted((point for point in curve.points if not point.disqualified), key=lambda point: point.load.level)
    groups = [(level, list(members)) for level, members in groupby(trusted, key=lambda point: point.load.level)]
    loads = tuple(judged(level, members, slo) for level, members in groups)
    meeting = [place for place, load in enumerate(loads) if load.verdict == "met"]
    highest = meeting[-1] if meeting else None
    above = None if highest is None or highest + 1 == len(loads) else highest + 1
    return Pick(
        slo=slo,
        verdict=_overall([load.verdict for load in loads]),
        highest=None if highest is None else loads[highest],
        boundary=None if highest is None or above is None else boundary(groups[highest], groups[above], slo),
        best=max((load for load in loads if load.goodput_req_per_s.value), key=_goodput, default=None),
        loads=loads,
    )


def _overall(verdicts: Sequence[Verdict3]) -> Verdict3:
    """Met by some load; missed only when every load misses it."""
    if "met" in verdicts:
        return "met"
    return "missed" if verdicts and set(verdicts) == {"missed"} else "undecided"


def judged(level: float, repeats: Sequence[Point], slo: Slo) -> Judged:
    """The repeats of one load, counted together."""
    tables = [table for table in map(table_of, repeats) if table is not None]
    cohort = sum(point.cohort for point in repeats)
    names = tuple(point.id for point in repeats)
    if len(tables) < len(repeats) or cohort == 0:
        unknown = Estimate(value=None, few=True)
        return Judged(level, names, "undecided", cohort, None, unknown, unknown)
    low, high = _good(tables, slo.bounds)
    attainment = _share(low, high, repeats, slo.bounds)
    verdicts = tuple(_verdict(*_good(tables, [bound]), repeats, bound) for bound in slo.bounds)
    seconds = [point.window.seconds for point in repeats if point.window is not None]
    per_s = cohort / sum(seconds) if len(seconds) == len(repeats) and sum(seconds) > 0 else None
    return Judged(level, names, goodput.all_of(verdicts), cohort, (low, high), attainment, _scaled(attainment, per_s))


def boundary(meets: tuple[float, list[Point]], fails: tuple[float, list[Point]], slo: Slo) -> Boundary | None:
    """Where the first of the bounds breaks, each bound's own percentile taken as a power law of the load between the two."""
    crossings = []
    for bound in slo.bounds:
        before, after = _percentile_s(meets[1], bound), _percentile_s(fails[1], bound)
        if before and after and before <= bound.limit_s < after:
            share = math.log(bound.limit_s / before) / math.log(after / before)
            crossings.append((meets[0] * (fails[0] / meets[0]) ** share, bound))
    if not crossings:
        return None
    level, bound = min(crossings, key=lambda crossing: crossing[0])
    return Boundary(meets[0], fails[0], level, bound)


def _good(tables: Sequence[joint.Joint], bounds: Sequence[Bound]) -> tuple[int, int]:
    brackets = [joint.good(table, bounds) for table in tables]
    return sum(bracket.low for bracket in brackets), sum(bracket.high for bracket in brackets)


def _verdict(low: int, high: int, repeats: Sequence[Point], bound: Bound) -> Verdict3:
    cohort = sum(point.cohort for point in repeats)
    if bound.quantile is None:
        return "met" if low == cohort else "missed" if high < cohort else "undecided"
    return goodput.verdict(_share(low, high, repeats, [bound]), bound.quantile)


def _share(low: int, high: int, repeats: Sequence[Point], bounds: Sequence[Bound]) -> Estimate:
    """What surely keeps the bounds; the interval spans the bracket too."""
    n = sum(point.cohort for point in repeats)
    n_eff = sum(point.cohort * min((_worth(point, bound) for bound in bounds), default=1.0) for point in repeats)
    lowest, _ = quantile.proportion_limits(low / n, n_eff)
    _, highest = quantile.proportion_limits(high / n, n_eff)
    return Estimate(value=low / n, low=lowest, high=highest, n=n, n_eff=n_eff, few=n < quantile.MIN_MEDIAN)


def _worth(point: Point, bound: Bound) -> float:
    """Effective per actual sample, as measured at the percentile nearest to the bound's."""
    q = bound.quantile if bound.quantile is not None else 1.0
    known = point.metrics.get(f"{bound.metric}_s", {})
    estimates = {
        quantile.QUANTILES[name]: one for name, one in known.items() if name in quantile.QUANTILES and one.n and one.n_eff
    }
    if not estimates:
        return 1.0
    nearest = estimates[min(estimates, key=lambda level: abs(level - q))]
    return min(1.0, (nearest.n_eff or nearest.n) / nearest.n)


def _percentile_s(repeats: Sequence[Point], bound: Bound) -> float | None:
    metric = f"{bound.metric}_s"
    known = [histogram_of(point, metric) for point in repeats if metric in point.histograms]
    us = histogram.percentile_us(histogram.add(known), 1.0 if bound.quantile is None else bound.quantile) if known else None
    return None if us is None else us / 1e6


def _scaled(share: Estimate, per_s: float | None) -> Estimate:
    """Requests per second; the interval is that of the share."""
    if per_s is None or share.value is None or share.low is None or share.high is None:
        return Estimate(value=None, n=share.n, few=share.few)
    return Estimate(value=share.value * per_s, low=share.low * per_s, high=share.high * per_s, n=share.n, few=share.few)


def _goodput(load: Judged) -> tuple[float, float]:
    return (load.goodput_req_per_s.value or 0.0, -load.level)
