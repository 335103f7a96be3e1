"""Which measured load meets an SLO that may be younger than the file, and where between two loads it ceases to hold.

A load's answer comes from its joint tables: counts of requests, and of their tokens, that keep every bound, as brackets that
contain the records' own counts (exact up to 5,000 requests). Failures keep no bound. A percentile bound is a statement about a
share and is met, missed or undecided by the share's interval, whose effective sample size is the one measured for that metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from sweep.curve.frontier import X, frontier
from sweep.curve.interpolate import Answer, Rule, at, curve_through
from sweep.curve.stored import histogram_of, table_of
from sweep.errors import UsageError
from sweep.measure import goodput, histogram, joint, quantile
from sweep.model import Bound, Curve, Estimate, Load, Point, Slo, Verdict3, Vertex

HALVINGS = 50
Groups = Sequence[tuple[float, Sequence[Point]]]


@dataclass(frozen=True, slots=True)
class Judged:
    """One load with all its repeats. `good`, `good_tokens`: brackets of what keeps every bound; None where a table is missing."""

    level: float
    load: Load
    points: tuple[str, ...]
    verdict: Verdict3
    cohort: int
    good: tuple[int, int] | None
    good_tokens: tuple[int, int] | None
    attainment: Estimate
    goodput_req_per_s: Estimate
    goodput_tok_per_s: Estimate


@dataclass(frozen=True, slots=True)
class Boundary:
    """The load at which the SLO ceases to hold: between `meets` and `fails`, which were measured; `level` is interpolated."""

    meets: float
    fails: float
    level: float
    bound: Bound  # the one that breaks first


@dataclass(frozen=True, slots=True)
class Reading:
    """What the frontier of an axis gives where users get `x`, which is what the SLO asks of that axis' metric."""

    axis: str
    x_label: str
    y_label: str
    x: float
    answer: Answer


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
    rate_unit: str  # of goodput in tokens, or what the dialect counts
    left_out: tuple[Load, ...]  # loads of which every point is disqualified

    @property
    def unreachable(self) -> bool:
        """Whether every measured load misses it."""
        return self.verdict == "missed"

    @property
    def standing(self) -> Literal["measured", "interpolated", "unreachable", "undecided"]:
        """How the highest load that meets the SLO is known."""
        if self.highest is None:
            return "unreachable" if self.unreachable else "undecided"
        return "measured" if self.boundary is None else "interpolated"


def pick(curve: Curve, slo: Slo, rule: Rule = "pchip") -> Pick:
    """Disqualified points answer nothing. `rule` interpolates between loads. ArtifactError where a table does not hold."""
    trusted = sorted((point for point in curve.points if not point.disqualified), key=lambda point: point.load.level)
    groups = [(level, list(members)) for level, members in groupby(trusted, key=lambda point: point.load.level)]
    loads = tuple(judged(level, members, slo) for level, members in groups)
    meeting = [place for place, load in enumerate(loads) if load.verdict == "met"]
    highest = meeting[-1] if meeting else None
    last = highest is None or highest + 1 == len(loads)
    answering = {load.load for load in loads}
    return Pick(
        slo=slo,
        verdict=_overall([load.verdict for load in loads]),
        highest=None if highest is None else loads[highest],
        boundary=None if highest is None or last else boundary(groups, highest, slo, rule),
        best=max((load for load in loads if load.goodput_req_per_s.value), key=_goodput, default=None),
        loads=loads,
        rate_unit=curve.endpoint.rate_unit,
        left_out=tuple(dict.fromkeys(point.load for point in curve.points if point.load not in answering)),
    )


def reading(curve: Curve, slo: Slo, axis: str, rule: Rule = "pchip") -> Reading:
    """The frontier of an axis pair of `AXES`, at the percentile and the place that the SLO's bound on its metric names.

    A percentile the file does not hold is read at the next stricter one. Raises UsageError where the SLO does not bound that metric.
    """
    horizontal = X[axis.split("/")[1]]
    bound = next((one for one in slo.bounds if f"{one.metric}_s" == horizontal.metric), None)
    if bound is None:
        able = [name for name in X if X[name].metric in {f"{one.metric}_s" for one in slo.bounds}]
        raise UsageError(f"--axis {axis}: {slo.name} bounds nothing on this axis", f"it does on: {', '.join(able)}")
    wanted = 1.0 if bound.quantile is None else bound.quantile
    stricter = [name for name, q in quantile.QUANTILES.items() if q >= wanted]
    statistic = min(stricter, key=lambda name: quantile.QUANTILES[name], default="max")
    front = frontier(curve.points, axis, statistic, rate_unit=curve.endpoint.rate_unit)
    x = 1 / bound.limit_s
    return Reading(axis, front.x_label, front.y_label, x, at(front.vertices, x, rule))


def _overall(verdicts: Sequence[Verdict3]) -> Verdict3:
    """Met by some load; missed only when every load misses it."""
    if "met" in verdicts:
        return "met"
    return "missed" if verdicts and set(verdicts) == {"missed"} else "undecided"


def judged(level: float, repeats: Sequence[Point], slo: Slo) -> Judged:
    """The repeats of one load, counted together."""
    cohort = sum(point.cohort for point in repeats)
    names, load = tuple(point.id for point in repeats), repeats[0].load
    asked = [slo.bounds, *((bound,) for bound in slo.bounds)]
    counted = [_counted(point, asked) for point in repeats]
    known = [one for one in counted if one is not None]
    if len(known) < len(counted) or cohort == 0:
        unknown = Estimate(value=None, few=True)
        return Judged(level, load, names, "undecided", cohort, None, None, unknown, unknown, unknown)
    together, *apart = (_together(brackets) for brackets in zip(*(one.kept for one in known), strict=True))
    attainment = _share(together, repeats, slo.bounds)
    verdicts = tuple(_verdict(kept, repeats, bound) for kept, bound in zip(apart, slo.bounds, strict=True))
    seconds = [point.window.seconds for point in repeats if point.window is not None]
    per_s = cohort / sum(seconds) if len(seconds) == len(repeats) and sum(seconds) > 0 else None
    requests = _scaled(attainment, per_s)
    return Judged(
        level=level,
        load=load,
        points=names,
        verdict=goodput.all_of(verdicts),
        cohort=cohort,
        good=(together.low, together.high),
        good_tokens=(together.tokens_low, together.tokens_high),
        attainment=attainment,
        goodput_req_per_s=requests,
        goodput_tok_per_s=_in_tokens(requests, together, known),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a joint table says: answers, their tokens, and what of them keeps each set of bounds asked for."""

    n: int
    tokens: int
    kept: list[joint.Bracket]


def _counted(point: Point, asked: Sequence[Sequence[Bound]]) -> _Counted | None:
    """None where the point has no table. Tables are large: one at a time is held."""
    table = table_of(point)
    if table is None:
        return None
    return _Counted(table.n, table.total_tokens, [joint.good(table, bounds) for bounds in asked])


def _together(brackets: Sequence[joint.Bracket]) -> joint.Bracket:
    return joint.Bracket(
        low=sum(one.low for one in brackets),
        high=sum(one.high for one in brackets),
        tokens_low=sum(one.tokens_low for one in brackets),
        tokens_high=sum(one.tokens_high for one in brackets),
    )


def boundary(groups: Groups, highest: int, slo: Slo, rule: Rule = "pchip") -> Boundary | None:
    """Where above load `highest` of the groups, and below the next, the first bound breaks: its percentile over the loads, by the rule."""
    meets, fails = groups[highest][0], groups[highest + 1][0]
    crossings = []
    for bound in slo.bounds:
        known = [(level, _percentile_s(points, bound)) for level, points in groups]
        places = [Vertex(x=level, y=seconds, points=()) for level, seconds in known if seconds]
        at_level = {place.x: place.y for place in places}
        if at_level.get(meets, math.inf) <= bound.limit_s < at_level.get(fails, 0.0):
            crossings.append((_crossing(places, meets, fails, bound.limit_s, rule), bound))
    if not crossings:
        return None
    level, bound = min(crossings, key=lambda crossing: crossing[0])
    return Boundary(meets, fails, level, bound)


def _crossing(places: Sequence[Vertex], below: float, above: float, limit: float, rule: Rule) -> float:
    """The load where the curve through the places reaches the limit; monotone between two neighbours, so halving finds it."""
    if rule == "step":
        return below
    value = curve_through(places, rule)
    for _ in range(HALVINGS):
        middle = math.sqrt(below * above)
        below, above = (middle, above) if value(middle) <= limit else (below, middle)
    return below


def _verdict(kept: joint.Bracket, repeats: Sequence[Point], bound: Bound) -> Verdict3:
    cohort = sum(point.cohort for point in repeats)
    if bound.quantile is None:
        return "met" if kept.low == cohort else "missed" if kept.high < cohort else "undecided"
    return goodput.verdict(_share(kept, repeats, [bound]), bound.quantile)


def _share(kept: joint.Bracket, repeats: Sequence[Point], bounds: Sequence[Bound]) -> Estimate:
    """What surely keeps the bounds; the interval spans the bracket too."""
    n = sum(point.cohort for point in repeats)
    n_eff = sum(point.cohort * min((_worth(point, bound) for bound in bounds), default=1.0) for point in repeats)
    lowest, _ = quantile.proportion_limits(kept.low / n, n_eff)
    _, highest = quantile.proportion_limits(kept.high / n, n_eff)
    return Estimate(value=kept.low / n, low=lowest, high=highest, n=n, n_eff=n_eff, few=n < quantile.MIN_MEDIAN)


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


def _in_tokens(requests: Estimate, kept: joint.Bracket, counted: Sequence[_Counted]) -> Estimate:
    """Tokens per second at the tokens of a good answer (of any, where none is good); null where nobody counted tokens."""
    n = sum(one.n for one in counted)
    mean = sum(one.tokens for one in counted) / n if n else 0.0
    least = kept.tokens_low / kept.low if kept.low else mean
    most = max(least, kept.tokens_high / kept.high if kept.high else mean)
    if requests.value is None or requests.low is None or requests.high is None or not most:
        return Estimate(value=None, n=requests.n, few=requests.few)
    return Estimate(
        value=requests.value * least, low=requests.low * least, high=requests.high * most, n=requests.n, few=requests.few
    )


def _goodput(load: Judged) -> tuple[float, float]:
    return (load.goodput_req_per_s.value or 0.0, -load.level)
