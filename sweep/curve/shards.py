"""Points of one cell, each measured by a client of its own at the same time, added to the point of the whole cell.

Concurrency, rates, counts, histograms and joint tables add. Percentiles are read from the added histograms (three digits) with
limits from the shards' effective sample sizes; what cannot be known from shards (the peak in flight, the smooth rate, one
client's health) is null.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sweep.curve.setup import pooled_lengths
from sweep.curve.stored import histogram_of, table_of
from sweep.measure import goodput, histogram, joint, jointcode, quantile
from sweep.measure.point import inverse
from sweep.model import BoundResult, Estimate, JointTable, LengthStats, Load, Point, SloResult


def add(parts: Sequence[Point]) -> Point:
    """Exact in counts, histograms and tables; associative. One part is itself."""
    first = parts[0]
    if len(parts) == 1:
        return first
    load = Load(kind=first.load.kind, level=sum(part.load.level for part in parts))
    added = {
        name: histogram.add([histogram_of(part, name) for part in parts])
        for name in _common([part.histograms for part in parts])
    }
    metrics = {name: _percentiles(one, [part.metrics.get(name, {}) for part in parts]) for name, one in added.items()}
    if "tpot_s" in metrics:
        metrics["interactivity_tok_per_s"] = inverse(metrics["tpot_s"])
    return msgspec.structs.replace(
        first,
        id=f"{load.label}.{first.repeat}",
        load=load,
        started_at=min(part.started_at for part in parts),
        cohort=sum(part.cohort for part in parts),
        outcomes=_counts([part.outcomes for part in parts]),
        outcomes_all=_counts([part.outcomes_all for part in parts]),
        statuses=_counts([part.statuses for part in parts]),
        isl_asked=_lengths(parts, lambda part: part.isl_asked),
        isl=_lengths(parts, lambda part: part.isl),
        osl_asked=_lengths(parts, lambda part: part.osl_asked),
        osl=_lengths(parts, lambda part: part.osl),
        cached_share=_cached_share(parts),
        token_sources=_counts([part.token_sources for part in parts]),
        metrics=metrics,
        rates={name: summed([part.rates[name] for part in parts]) for name in _common([part.rates for part in parts])},
        concurrency=summed([part.concurrency for part in parts]),
        concurrency_peak=None,
        busy_s=max((part.busy_s for part in parts if part.busy_s is not None), default=None),
        mid_flight=None if any(part.mid_flight is None for part in parts) else sum(part.mid_flight or 0 for part in parts),
        loadgen={},
        histograms={name: histogram.encode(one) for name, one in added.items()},
        joint=_tables(parts),
        slos=tuple(
            _slo([_result(part, slo.slo) for part in parts]) for slo in first.slos if all(_has(part, slo.slo) for part in parts)
        ),
        health=None,
        findings=tuple({(finding.code, str(finding.data)): finding for part in parts for finding in part.findings}.values()),
        energy_j=_sum([part.energy_j for part in parts]),
        disqualified=any(part.disqualified for part in parts),
    )


def summed(estimates: Sequence[Estimate]) -> Estimate:
    """The sum of independent estimates: half-widths add in squares. Null as soon as one is."""
    value = _sum([one.value for one in estimates])
    below = _root_of_squares([_distance(one.value, one.low) for one in estimates])
    above = _root_of_squares([_distance(one.high, one.value) for one in estimates])
    return Estimate(
        value=value,
        low=None if value is None or below is None else value - below,
        high=None if value is None or above is None else value + above,
        n=sum(one.n for one in estimates),
        few=any(one.few for one in estimates),
    )


def _percentiles(added: histogram.Histogram, parts: Sequence[Mapping[str, Estimate]]) -> dict[str, Estimate]:
    """mean, min, max of the parts' own; percentiles of the histogram."""
    present = [part for part in parts if part.get("mean") is not None and part["mean"].n]
    found = {
        name: _percentile(added, q, [part[name] for part in present if name in part]) for name, q in quantile.QUANTILES.items()
    }
    for name, choose in (("min", min), ("max", max)):
        values = [part[name].value for part in present if name in part]
        known = [value for value in values if value is not None]
        found[name] = Estimate(value=choose(known) if known else None, n=added.total, few=added.total < quantile.MIN_MEDIAN)
    means = [(part["mean"].value, part["mean"].n) for part in present]
    count = sum(n for _, n in means)
    mean = sum(value * n for value, n in means if value is not None) / count if count else None
    return {"mean": Estimate(value=mean, n=count, few=count < quantile.MIN_MEDIAN), **found}


def _percentile(added: histogram.Histogram, q: float, parts: Sequence[Estimate]) -> Estimate:
    n, n_eff = added.total, sum(part.n_eff or part.n for part in parts)
    if n == 0 or n_eff <= 0:
        return Estimate(value=None, few=True)
    p_low, p_high = quantile.proportion_limits(q, n_eff)
    unbounded = q**n_eff > quantile.ALPHA / 2 or math.floor(p_high * n) + 1 > n
    return Estimate(
        value=_seconds(added, q),
        low=_seconds(added, p_low),
        high=None if unbounded else _seconds(added, p_high),
        n=n,
        n_eff=n_eff,
        few=quantile.is_few(q, n),
    )


def _seconds(added: histogram.Histogram, q: float) -> float | None:
    us = histogram.percentile_us(added, q)
    return None if us is None else us / 1e6


def _tables(parts: Sequence[Point]) -> JointTable | None:
    tables = [table_of(part) for part in parts]
    known = [table for table in tables if table is not None]
    return jointcode.encode(joint.merge(known)) if len(known) == len(tables) else None


def _slo(results: Sequence[SloResult]) -> SloResult:
    bounds = []
    for place, part in enumerate(results[0].bounds):
        share = _share([result.bounds[place].share for result in results])
        bounds.append(BoundResult(bound=part.bound, share=share, verdict=goodput.verdict(share, part.bound.quantile)))
    return SloResult(
        slo=results[0].slo,
        good=sum(result.good for result in results),
        cohort=sum(result.cohort for result in results),
        attainment=_share([result.attainment for result in results]),
        goodput_req_per_s=summed([result.goodput_req_per_s for result in results]),
        goodput_tok_per_s=summed([result.goodput_tok_per_s for result in results]),
        verdict=goodput.all_of(tuple(bound.verdict for bound in bounds)),
        bounds=tuple(bounds),
    )


def _share(parts: Sequence[Estimate]) -> Estimate:
    """The share of all, from shares that are each a count over n."""
    n, n_eff = sum(part.n for part in parts), sum(part.n_eff or part.n for part in parts)
    if n == 0:
        return Estimate(value=None, few=True)
    value = sum(round(min(max(part.value or 0.0, 0.0), 1.0) * part.n) for part in parts) / n
    low, high = quantile.proportion_limits(value, n_eff)
    return Estimate(value=value, low=low, high=high, n=n, n_eff=n_eff, few=n < quantile.MIN_MEDIAN)


def _cached_share(parts: Sequence[Point]) -> float | None:
    """Weighted by prompt tokens; null when one shard does not know."""
    weighted = [(part.cached_share, (part.isl.mean or 0.0) * part.isl.n) for part in parts]
    tokens = sum(weight for _, weight in weighted)
    if not tokens or any(share is None for share, _ in weighted):
        return None
    return sum(share * weight for share, weight in weighted if share is not None) / tokens


def _lengths(parts: Sequence[Point], of: Callable[[Point], LengthStats]) -> LengthStats:
    return pooled_lengths(of(part) for part in parts)


def _counts(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return dict(sum((Counter(part) for part in parts), Counter()))


def _common(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for name in parts[0] if all(name in part for part in parts)]


def _result(part: Point, slo: str) -> SloResult:
    return next(result for result in part.slos if result.slo == slo)


def _has(part: Point, slo: str) -> bool:
    return any(result.slo == slo for result in part.slos)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _distance(upper: float | None, lower: float | None) -> float | None:
    return None if upper is None or lower is None else upper - lower


def _root_of_squares(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.hypot(*known) if len(known) == len(values) else None
