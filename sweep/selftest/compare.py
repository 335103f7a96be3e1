"""How far what was measured lies from the truth. Pure: points, records and frontiers in, errors out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.curve.frontier import frontiers
from sweep.model import Bound, Cell, Endpoint, Frontier, Health, Outcome, Phase, Point, Slo, Window
from sweep.records import Records
from sweep.selftest.nouns import TOLERANCE, LoadResult, PresetResult, Spread
from sweep.selftest.truth import Joined

FIGURES = ("ttft_s.p50", "ttft_s.p99", "tpot_s.p50", "tpot_s.p99", "e2e_s.p99")
STRICT_AT, SLACK = "p75", 1.01
FIT_STREAMS = 16


def load_result(
    cell: Cell, joined: Joined, window: Window, health: Health | None, endpoint: Endpoint
) -> tuple[LoadResult, Point, Point]:
    """The verdict on one load, the point that the client's records make and the point that the truth makes.

    Both are made by the same functions over the same window. Goodput is judged by an SLO that cuts through the middle: TTFT
    and TPOT within 1 % above their true 75th percentiles.
    """
    ours, truth = joined.ours, joined.truth
    slo = cutting(_point(cell, truth, window, (), endpoint))
    measured, true = (_point(cell, each, window, (slo,), endpoint) for each in (ours, truth))
    errors = figure_errors(measured, true)
    cohort = (ours["phase"] == Phase.MEASURED.value) & (ours["outcome"] == Outcome.OK.value)
    at_most_ns, beyond_ns = ours.chunk_ns - joined.before_ns, ours.chunk_ns - truth.chunk_ns
    first = ours.chunk_start[:-1][cohort]
    early = int((beyond_ns < 0).sum())
    result = LoadResult(
        preset=endpoint.model,
        streams=round(cell.load.level),
        requests=int(cohort.sum()),
        tok_per_s=true.rates["output_tok_per_s"].value,
        ttft_error_s=spread(at_most_ns[first]),
        token_error_s=spread(at_most_ns),
        beyond_s=spread(beyond_ns),
        figure_errors=errors,
        unmatched=joined.unmatched,
        early=early,
        server_late_s=spread(joined.late_ns),
        arrival_s=spread(joined.arrival_ns - ours["sent_ns"]),
        stamps=health.stamp_source if health else None,
        cpu_share=health.cpu_share if health else None,
        exact=is_exact(errors, joined.unmatched + early),
    )
    return result, measured, true


def is_exact(errors: dict[str, float | None], broken: int) -> bool:
    """Every figure is known and within the tolerance, and nothing that makes no sense was seen."""
    return broken == 0 and all(error is not None and abs(error) <= TOLERANCE for error in errors.values())


def figure_errors(measured: Point, true: Point) -> dict[str, float | None]:
    """Relative error of throughput, goodput and the latency percentiles a curve is read by."""
    pairs = {
        "output_tok_per_s": (measured.rates["output_tok_per_s"].value, true.rates["output_tok_per_s"].value),
        "goodput_req_per_s": (measured.slos[0].goodput_req_per_s.value, true.slos[0].goodput_req_per_s.value),
    }
    for figure in FIGURES:
        metric, _, statistic = figure.partition(".")
        name = f"{metric.removesuffix('_s')}_{statistic}_s"
        pairs[name] = (measured.metrics[metric][statistic].value, true.metrics[metric][statistic].value)
    return {name: relative(*pair) for name, pair in pairs.items()}


def relative(measured: float | None, true: float | None) -> float | None:
    """measured/true − 1; None where it says nothing."""
    if measured is None or true is None or (true == 0) != (measured == 0):
        return None
    return measured / true - 1 if true else 0.0


def spread(ns: NDArray[np.int64]) -> Spread:
    """Of |values|, in seconds, percentiles observed (inverted CDF)."""
    if not len(ns):
        return Spread(n=0)
    ordered = np.sort(np.abs(ns)) / 1e9
    p50, p99 = (float(ordered[int(np.ceil(q * len(ordered))) - 1]) for q in (0.5, 0.99))
    return Spread(n=len(ordered), p50=p50, p99=p99, max=float(ordered[-1]))


def cutting(true: Point) -> Slo:
    """An SLO with requests on both sides of its bounds, so that goodput can be wrong."""
    limits = {name: true.metrics[f"{name}_s"][STRICT_AT].value for name in ("ttft", "tpot")}
    bounds = tuple(
        Bound(metric="ttft" if name == "ttft" else "tpot", limit_s=SLACK * limit) for name, limit in limits.items() if limit
    )
    return Slo(name="cutting", bounds=bounds)


def preset_result(preset: str, loads: Sequence[LoadResult], measured: Sequence[Point], true: Sequence[Point]) -> PresetResult:
    """Points of the same loads in the same order."""
    measured, true = ([msgspec.structs.replace(point, disqualified=False) for point in each] for each in (measured, true))
    errors = {
        ours.axis: error
        for ours, theirs in zip(frontiers(measured), frontiers(true), strict=True)
        if (error := frontier_error(ours, theirs)) is not None
    }
    worst = max(errors, key=lambda axis: errors[axis], default=None)
    return PresetResult(preset=preset, loads=tuple(loads), frontier_error=errors[worst] if worst else None, frontier_axis=worst)


def frontier_error(ours: Frontier, theirs: Frontier) -> float | None:
    """The factor, less 1, by which each frontier has to be stretched to cover the other; None without vertices to compare.

    The multiplicative ε-indicator of Zitzler et al. ("Performance assessment of multiobjective optimizers", IEEE TEC 7,
    2003), both ways: whichever points were found to be vertices, only the place of the line counts.
    """
    if not ours.vertices or not theirs.vertices or ours.statistic != theirs.statistic:
        return None
    one, other = (np.array([(vertex.x, vertex.y) for vertex in each.vertices]) for each in (ours, theirs))
    return max(1.0, _stretch(one, other), _stretch(other, one)) - 1


def _stretch(covering: NDArray[np.float64], covered: NDArray[np.float64]) -> float:
    return float((covered[:, None, :] / covering[None, :, :]).max(axis=2).min(axis=1).max())


def highest_exact(loads: Iterable[LoadResult]) -> LoadResult | None:
    """The load of most tokens per second that is exact and than which every lighter one is exact."""
    best = None
    for load in sorted(loads, key=lambda each: each.tok_per_s or 0.0):
        if not load.exact:
            return best
        best = load
    return best


def is_fit(loads: Iterable[LoadResult]) -> bool:
    """Exact at up to 16 streams, on every preset."""
    small = [load for load in loads if load.streams <= FIT_STREAMS]
    return bool(small) and all(load.exact for load in small)


def _point(cell: Cell, records: Records, window: Window, slos: tuple[Slo, ...], endpoint: Endpoint) -> Point:
    from sweep.measure import point

    return point.measure(cell, records, window, slos, None, endpoint, "", "duration")
