"""Where a point's SLOs contradict its counts, its joint table, and the bounds of the curve."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.curve.rounded import ROUNDED, same
from sweep.measure import goodput, joint
from sweep.measure.quantile import proportion_limits
from sweep.model import BoundResult, Curve, Estimate, Point, SloResult

MAX_LIMIT_S = 1e9


def problems(curve: Curve, point: Point, table: joint.Joint | None, alone: bool) -> Iterator[str]:
    bounds = {slo.name: slo.bounds for slo in curve.slos}
    seconds = point.window.seconds if alone and point.window is not None else None
    for result in point.slos:
        if any(not 0 <= part.bound.limit_s <= MAX_LIMIT_S for part in result.bounds):
            yield f"{result.slo} has an impossible bound"
            continue
        if tuple(part.bound for part in result.bounds) != bounds.get(result.slo):
            yield f"{result.slo} has other bounds here than in the curve"
        if result.cohort != point.cohort or not _is_share(result.attainment, result.good, point.cohort):
            yield f"the attainment of {result.slo} is not {result.good} of {point.cohort}"
        if seconds and not same(result.goodput_req_per_s.value, result.good / seconds):
            yield f"the goodput under {result.slo} is not {result.good} requests in {seconds:.6g} s"
        if result.verdict != goodput.all_of(tuple(part.verdict for part in result.bounds)):
            yield f"{result.slo} is {result.verdict}, which its bounds do not say"
        yield from (problem for part in result.bounds for problem in _bound(point, result, part, table))
        if table is not None:
            yield from _goodput(result, joint.good(table, [part.bound for part in result.bounds]), seconds)


def _bound(point: Point, result: SloResult, part: BoundResult, table: joint.Joint | None) -> Iterator[str]:
    if part.verdict != goodput.verdict(part.share, part.bound.quantile):
        yield f"{part.bound.metric} of {result.slo} is {part.verdict}, which its share's interval does not say"
    kept = round((part.share.value or 0.0) * part.share.n)
    if part.share.n != point.cohort or not _is_share(part.share, kept, point.cohort):
        yield f"the share that keeps {part.bound.metric} of {result.slo} is not one of {point.cohort} requests"
    bracket = None if table is None else joint.good(table, [part.bound])
    if bracket is not None and not bracket.low <= kept <= bracket.high:
        yield f"{kept} requests keep {part.bound.metric} of {result.slo}, by the joint table {_range(bracket.low, bracket.high)}"


def _goodput(result: SloResult, bracket: joint.Bracket, seconds: float | None) -> Iterator[str]:
    if not bracket.low <= result.good <= bracket.high:
        yield f"{result.good} requests meet {result.slo}, by the joint table {_range(bracket.low, bracket.high)}"
    tokens = result.goodput_tok_per_s.value
    if seconds and tokens is not None:
        low, high = bracket.tokens_low * (1 - ROUNDED), bracket.tokens_high * (1 + ROUNDED)
        if not low <= tokens * seconds <= high:
            yield f"the token goodput under {result.slo} is {tokens:.6g}, by the joint table {low / seconds:.6g}"


def _is_share(stated: Estimate, count: int, n: int) -> bool:
    """A count of n, with the limits of its effective sample size."""
    if stated.value is None or n == 0:
        return stated.value is None and n == 0
    limits = proportion_limits(count / n, stated.n_eff) if stated.n_eff else (stated.low, stated.high)
    return same(stated.value, count / n) and same(stated.low, limits[0]) and same(stated.high, limits[1])


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
