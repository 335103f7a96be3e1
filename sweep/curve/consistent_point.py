"""Where the parts of a point contradict each other, found without its records.

Every statement here holds for any point that was measured, and for points that were merged; `alone` says that it is one cell of
one run, for which more must agree. Small slack is granted only where the file itself rounds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sweep.curve.stored import histogram_of, table_of
from sweep.findings import TABLE, weight
from sweep.measure import goodput, histogram, joint, loglinear, validity
from sweep.measure.point import inverse
from sweep.measure.quantile import QUANTILES, proportion_limits, rank
from sweep.measure.window import is_open
from sweep.model import BoundResult, Curve, Estimate, Outcome, Point, SloResult, failures

MAX_LIMIT_S = 1e9
CELL = 1.5e-3  # a histogram cell, and its samples were rounded to µs
ROUNDED = 1e-6  # nine digits, and sums of such
EDGES = 2  # of a window
HUNG = (Outcome.TIMEOUT_IDLE, Outcome.TIMEOUT_DEADLINE)


def problems(curve: Curve, point: Point) -> Iterator[str]:
    """One line each. Raises ArtifactError where a table or histogram cannot be read."""
    alone = "+" not in curve.run_id
    table = table_of(point)
    yield from _counts(point)
    yield from _trust(point)
    yield from _estimates(point)
    if table is not None:
        yield from _table(point, table)
    for metric in sorted(point.histograms):
        yield from _histogram(point, metric, histogram_of(point, metric), alone)
    yield from _interactivity(point)
    yield from _slos(curve, point, table, alone)
    if alone:
        yield from _rates(point)


def _counts(point: Point) -> Iterator[str]:
    if sum(point.outcomes.values()) != point.cohort:
        yield f"{sum(point.outcomes.values())} outcomes for a cohort of {point.cohort}"
    if any(count > point.outcomes_all.get(outcome, 0) for outcome, count in point.outcomes.items()):
        yield "the cohort has outcomes that the cell has not"
    if point.id != f"{point.load.label}.{point.repeat}":
        yield f"its id is not that of {point.load.label}, repeat {point.repeat}"
    if point.window is not None and point.window.end_ns <= point.window.begin_ns:
        yield "its window ends before it begins"


def _trust(point: Point) -> Iterator[str]:
    """A point that must not count says so, and one that says why not does not count."""
    stated = {finding.code for finding in point.findings}
    disqualifies = any(finding.code in TABLE and weight(finding) == "disqualifies" for finding in point.findings)
    if disqualifies != point.disqualified:
        yield "a finding disqualifies it, yet it counts" if disqualifies else "it is disqualified, and no finding says why"
    overloaded, succeeded = "overloaded" in stated, bool(point.outcomes_all.get(Outcome.OK, 0))
    failed = sum(failures(point.outcomes, overloaded).values())
    due = {
        "no-success": not (succeeded or overloaded),
        "aborted": point.window is None and succeeded and not overloaded,
        "failures": failed > validity.FAILURES * point.cohort,
        "hung": any(point.outcomes_all.get(outcome, 0) for outcome in HUNG),
    }
    for code, is_due in due.items():
        if is_due and code not in stated:
            yield f"the finding {code!r} is due, and it does not have it"


def _estimates(point: Point) -> Iterator[str]:
    """A value lies in its own interval."""
    named = {f"{name} {inner}": one for name, found in point.metrics.items() for inner, one in found.items()}
    named |= {**point.rates, "concurrency": point.concurrency}
    named |= {f"attainment of {result.slo}": result.attainment for result in point.slos}
    named |= {f"goodput under {result.slo}": result.goodput_req_per_s for result in point.slos}
    named |= {f"token goodput under {result.slo}": result.goodput_tok_per_s for result in point.slos}
    for name, one in named.items():
        below = one.low is not None and one.value is not None and one.low > one.value * (1 + ROUNDED)
        above = one.high is not None and one.value is not None and one.high < one.value * (1 - ROUNDED)
        if below or above:
            yield f"{name} lies outside its own interval"
        if one.n_eff is not None and one.n_eff > one.n * (1 + ROUNDED):
            yield f"{name} claims more effective than actual samples"


def _table(point: Point, table: joint.Joint) -> Iterator[str]:
    if table.n + table.failed != point.cohort:
        yield f"the joint table holds {table.n + table.failed} requests for a cohort of {point.cohort}"
    if table.n > point.outcomes.get(Outcome.OK, 0):
        yield f"the joint table holds {table.n} answers where {point.outcomes.get(Outcome.OK, 0)} ended well"
    if point.osl.mean is not None and not _same(table.total_tokens, point.osl.mean * point.osl.n):
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
    lost = any(finding.code == "out-of-range" for finding in point.findings)
    surely, perhaps = _up_to(high_us, table.counts, edges), _up_to(low_us, table.counts, edges + 1)
    return bool((below <= perhaps).all() and (lost or (below >= surely - without).all()))


def _up_to(us: NDArray[np.int64], counts: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many lie at or below each edge."""
    order = np.argsort(us)
    running: NDArray[np.int64] = np.concatenate([[0], np.cumsum(counts[order])])
    return running[np.searchsorted(us[order], edges, side="right")]


def _histogram(point: Point, metric: str, stored: histogram.Histogram, alone: bool) -> Iterator[str]:
    known, n = point.metrics.get(metric, {}), stored.total
    lost = any(finding.code == "out-of-range" for finding in point.findings)
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


def _interactivity(point: Point) -> Iterator[str]:
    stored, tpot = point.metrics.get("interactivity_tok_per_s"), point.metrics.get("tpot_s")
    if stored is None or tpot is None:
        return
    again = inverse(tpot)
    for name, one in stored.items():
        if name in again and not _same(one.value, again[name].value):
            yield f"interactivity {name} is not the inverse of TPOT's"


def _slos(curve: Curve, point: Point, table: joint.Joint | None, alone: bool) -> Iterator[str]:
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
        if seconds and not _same(result.goodput_req_per_s.value, result.good / seconds):
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
    return _same(stated.value, count / n) and _same(stated.low, limits[0]) and _same(stated.high, limits[1])


def _rates(point: Point) -> Iterator[str]:
    """What was delivered against what was asked for: they differ by what was in flight at the window's edges, or failed."""
    if point.window is None or point.concurrency_peak is None:
        return
    seconds, peak = point.window.seconds, point.concurrency_peak
    value = {name: rate.value for name, rate in point.rates.items()}
    failed = sum(count for outcome, count in point.outcomes_all.items() if outcome != Outcome.OK)
    spare = EDGES * peak + failed + 0.01 * point.cohort
    ended = (value.get("req_per_s") or 0.0) * seconds
    if value.get("req_per_s") is not None and abs(ended - point.outcomes.get(Outcome.OK, 0)) > spare:
        yield f"{ended:.0f} requests ended in a window in which {point.cohort} began"
    for name, lengths in (("output_tok_per_s", point.osl), ("input_tok_per_s", point.isl)):
        tokens, spare_tokens = value.get(name), (spare + EDGES) * (lengths.max or 0)
        if tokens is None or lengths.mean is None:
            continue
        if abs(tokens * seconds - lengths.mean * ended) > spare_tokens:
            yield f"{name} is {tokens:.6g}, by requests and lengths {lengths.mean * ended / seconds:.6g}"
    output, prompts, total = (value.get(f"{name}_tok_per_s") for name in ("output", "input", "total"))
    if output is not None and prompts is not None and not _same(total, output + prompts):
        yield "total_tok_per_s is not the sum of input and output"
    if not is_open(point.load) and point.load.kind == "closed" and point.concurrency.value is not None:
        off = abs(point.concurrency.value - point.load.level) > validity.CONCURRENCY * point.load.level
        if off and not any(finding.code == "concurrency" for finding in point.findings):
            yield f"the finding 'concurrency' is due: {point.concurrency.value:.4g} in flight of {point.load.level:g}"


def _same(stated: float | None, again: float | None) -> bool:
    if stated is None or again is None:
        return stated is again
    return abs(stated - again) <= ROUNDED * max(abs(stated), abs(again), 1e-9)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
