"""One load under an SLO that may be younger than the file.

The answer comes from joint tables: counts of requests, and of their tokens, that keep every bound, as brackets that contain the
records' own counts (exact up to 5,000 requests). Failures keep no bound. A percentile bound is a statement about a share and is
met, missed or undecided by the share's interval, whose effective sample size is the one measured for that metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.curve.stored import table_of
from sweep.measure import goodput, joint, quantile
from sweep.model import Bound, Estimate, Load, Point, Slo, Verdict3


@dataclass(frozen=True, slots=True)
class Judged:
    """One load with all its repeats. `good`, `good_tokens`: brackets of what keeps every bound; None where a table is missing.

    Goodput is of the requests sent inside the window, with their whole answers; output is of the tokens delivered inside it. They
    have the same mean, but at the edges of a short window goodput may come out higher.
    """

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
    output_tok_per_s: float | None = None  # delivered inside the window, good or not; the mean of the repeats


def judged(level: float, repeats: Sequence[Point], slo: Slo) -> Judged:
    """The repeats of one load, counted together."""
    cohort = sum(point.cohort for point in repeats)
    names, load = tuple(point.id for point in repeats), repeats[0].load
    asked = [slo.bounds, *((bound,) for bound in slo.bounds)]
    counted = [_counted(point, asked) for point in repeats]
    known = [one for one in counted if one is not None]
    if len(known) < len(counted) or cohort == 0:
        unknown = Estimate(value=None, few=True)
        return Judged(level, load, names, "undecided", cohort, None, None, unknown, unknown, unknown, _output(repeats))
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
        output_tok_per_s=_output(repeats),
    )


def _output(repeats: Sequence[Point]) -> float | None:
    rates = [rate for point in repeats if (rate := point.rate("output_tok_per_s").value) is not None]
    return sum(rates) / len(rates) if rates and len(rates) == len(repeats) else None


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
