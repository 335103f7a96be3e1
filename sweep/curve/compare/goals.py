"""What one side delivers under an SLO: good tokens per second at the load that suits it best.

A load must meet the percentile bounds; among those that do, the highest that brings most good tokens counts. Where the next load misses
them, the answer lies between the two: throughput as a power law of the load, up to where the first bound breaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.curve.boundary import Boundary
from sweep.curve.compare import noise
from sweep.curve.compare.delivery import Delivery, estimate
from sweep.curve.compare.nouns import Served
from sweep.curve.compare.plane import Plane
from sweep.curve.judged import Judged
from sweep.curve.pick import Pick, pick
from sweep.measure.quantile import QUANTILES
from sweep.model import Bound, Estimate, Point, Slo, Verdict3

Floats = NDArray[np.float64]
OUTPUT = "output_tok_per_s"
NOTHING = Estimate(value=None)
NEAR = 1.03


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """A measured value of one load and draws of how far its logarithm may be off; None where that is unknown."""

    value: float
    off: Floats | None
    sources: tuple[noise.Source, ...]


def under(plane: Plane, slo: Slo) -> Delivery:
    picked = pick(plane.curve, slo)
    verdict, meeting = _meeting(plane, picked)
    best = _best(meeting)
    if best is None:
        if verdict == "undecided":
            return Delivery(Served(label=plane.label, standing="undecided", tok_per_s=NOTHING), None, None)
        never = np.full(plane.random.draws, -np.inf)
        return Delivery(Served(label=plane.label, standing="unreachable", tok_per_s=NOTHING), None, never)
    here = _good_tokens(plane, best)
    beyond = next((load for load in picked.loads if load.level > best.level), None) if _only_shares(slo) else None
    there = _output(plane, beyond.level) if beyond else None
    served = Served(
        label=plane.label,
        standing="measured",
        tok_per_s=NOTHING,
        attained=here.value,
        ceiling=max(there.value, here.value) if there else None,
        load=picked.highest.level if picked.highest else None,
        measured_load=picked.highest.level if picked.highest else None,
        fails_at=beyond.level if beyond else None,
        loads=(best.level, *([beyond.level] if beyond else [])),
        attainment=best.attainment.value,
    )
    edge = picked.boundary
    if edge is not None and there is not None and best.level == edge.meets and edge.level > edge.meets:
        return _between(plane, served, here, there, edge, slo)
    ln = None if here.off is None else math.log(here.value) + here.off
    value = estimate(here.value, ln, here.sources)
    return Delivery(msgspec.structs.replace(served, tok_per_s=value), here.value, ln, here.sources)


def _between(plane: Plane, served: Served, here: Flow, there: Flow, edge: Boundary, slo: Slo) -> Delivery:
    """From the last load that meets towards the first that misses, as far as every bound holds."""
    way = math.log(edge.level / edge.meets) / math.log(edge.fails / edge.meets)
    rise = max(0.0, math.log(there.value * (served.attainment or 1.0) / here.value))
    value = here.value * math.exp(way * rise)
    breaking = _breaking(plane, edge, slo)
    ln, sources = None, (*here.sources, *there.sources, *(breaking.sources if breaking else ()))
    if here.off is not None and there.off is not None and breaking is not None and breaking.off is not None:
        ways = np.clip(way + breaking.off, 0.0, 1.0)
        rises = np.maximum(0.0, rise + there.off - here.off)
        ln = math.log(here.value) + here.off + ways * rises
    served = msgspec.structs.replace(
        served,
        standing="interpolated",
        tok_per_s=estimate(value, ln, sources),
        ceiling=max(there.value, value),
        load=edge.level,
        fails_at=edge.fails,
    )
    return Delivery(served, value, ln, sources if ln is not None else ())


def _breaking(plane: Plane, edge: Boundary, slo: Slo) -> Flow | None:
    """Where between the two loads the first bound breaks, 0..1, from the latencies there; `off` is in these units."""
    ways: list[float] = []
    drawn: list[Floats | None] = []
    sources: list[noise.Source] = []
    for bound in slo.bounds:
        before, after = (_percentile(plane, _points(plane, level), bound) for level in (edge.meets, edge.fails))
        if before is None or after is None or not before.value <= bound.limit_s < after.value:
            continue
        ways.append(float(_way(math.log(before.value), math.log(after.value), bound)))
        sources += [*before.sources, *after.sources]
        known = before.off is not None and after.off is not None
        drawn.append(
            _way(math.log(before.value) + before.off, math.log(after.value) + after.off, bound)  # type: ignore[operator]
            if known
            else None
        )
    if not ways:
        return None
    moved = [each for each in drawn if each is not None]
    off = np.minimum.reduce(moved) - min(ways) if len(moved) == len(drawn) else None
    return Flow(min(ways), off, tuple(sources))


def _way(ln_before: Floats | float, ln_after: Floats | float, bound: Bound) -> Floats:
    rise = np.maximum(np.asarray(ln_after) - ln_before, 1e-12)
    return np.clip((math.log(bound.limit_s) - ln_before) / rise, 0.0, 1.0)


def _only_shares(slo: Slo) -> bool:
    return all(bound.quantile is not None for bound in slo.bounds)


def _meeting(plane: Plane, picked: Pick) -> tuple[Verdict3, list[Judged]]:
    """The loads that meet the percentile bounds, and whether any does. Bounds on every request only sort good from bad."""
    shares = tuple(bound for bound in picked.slo.bounds if bound.quantile is not None)
    counted = [load for load in picked.loads if load.good is not None]
    if not shares:
        return ("missed" if counted else "undecided"), counted
    alone = picked if _only_shares(picked.slo) else pick(plane.curve, msgspec.structs.replace(picked.slo, bounds=shares))
    met = {load.level for load in alone.loads if load.verdict == "met"}
    return alone.verdict, [load for load in counted if load.level in met]


def _best(meeting: Sequence[Judged]) -> Judged | None:
    """The highest load among those that bring most, give or take what throughput is measured to: luck shall not choose."""
    most = max((load.goodput_tok_per_s.value or 0.0 for load in meeting), default=0.0)
    return max(
        (load for load in meeting if most and (load.goodput_tok_per_s.value or 0.0) * NEAR >= most), key=_level, default=None
    )


def _level(load: Judged) -> float:
    return load.level


def _points(plane: Plane, level: float) -> list[Point]:
    return [point for point in plane.curve.points if not point.disqualified and point.load.level == level]


def _good_tokens(plane: Plane, load: Judged) -> Flow:
    points = _points(plane, load.level)
    value = load.goodput_tok_per_s.value or 0.0
    rate = _flow(plane, OUTPUT, points, [point.rates.get(OUTPUT, NOTHING) for point in points])
    share = _flow(plane, "attainment", points[:1], [load.attainment])
    if rate is None or share is None or rate.off is None or share.off is None:
        return Flow(value, None, ())
    return Flow(value, rate.off + share.off, (*rate.sources, *share.sources))


def _output(plane: Plane, level: float) -> Flow | None:
    points = _points(plane, level)
    return _flow(plane, OUTPUT, points, [point.rates.get(OUTPUT, NOTHING) for point in points])


def _percentile(plane: Plane, points: Sequence[Point], bound: Bound) -> Flow | None:
    """The latency a bound speaks of, at the known percentile nearest to the bound's."""
    metric, q = f"{bound.metric}_s", 1.0 if bound.quantile is None else bound.quantile
    names = [name for name in QUANTILES if all(name in point.metrics.get(metric, {}) for point in points)]
    if not names:
        return None
    name = min(names, key=lambda each: abs(QUANTILES[each] - q))
    return _flow(plane, f"{metric}.{name}", points, [point.metrics[metric][name] for point in points])


def _flow(plane: Plane, what: str, points: Sequence[Point], estimates: Sequence[Estimate]) -> Flow | None:
    """Repeats of a load as one: the mean of their values."""
    values = [each.value for each in estimates if each.value is not None and each.value > 0]
    if not points or len(values) < len(estimates):
        return None
    found = noise.source(plane.random, what, points, estimates)
    return Flow(float(np.mean(values)), None if found is None else found.ln, () if found is None else (found,))
