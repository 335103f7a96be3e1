"""Where the parts of a point contradict each other, found without its records.

Every statement here holds for any point that was measured, and for points that were merged; `alone` says that it is one cell of
one run, for which more must agree. Small slack is granted only where the file itself rounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from sweep.curve import consistent_slos
from sweep.curve.consistent_tables import histogram_problems, table_problems
from sweep.curve.rounded import ROUNDED, same
from sweep.curve.stored import histogram_of, table_of
from sweep.findings import TABLE, weight
from sweep.measure import validity
from sweep.measure.point import inverse
from sweep.measure.quantile import QUANTILES, is_few
from sweep.model import Curve, Outcome, Point, failures

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
        yield from table_problems(point, table)
    for metric in sorted(point.histograms):
        yield from histogram_problems(point, metric, histogram_of(point, metric), alone)
    yield from _interactivity(point)
    yield from consistent_slos.problems(curve, point, table, alone)
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
    """A value lies in its own interval, and a percentile of too few values says so."""
    named = {f"{name} {inner}": one for name, found in point.metrics.items() for inner, one in found.items()}
    for name, one in named.items():
        q = QUANTILES.get(name.split()[-1])
        if q is not None and is_few(q, one.n) and not one.few:
            yield f"{name} is of {one.n} samples, which are too few, and does not say so"
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


def _interactivity(point: Point) -> Iterator[str]:
    stored, tpot = point.metrics.get("interactivity_tok_per_s"), point.metrics.get("tpot_s")
    if stored is None or tpot is None:
        return
    again = inverse(tpot)
    for name, one in stored.items():
        if name in again and not same(one.value, again[name].value):
            yield f"interactivity {name} is not the inverse of TPOT's"


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
    if output is not None and prompts is not None and not same(total, output + prompts):
        yield "total_tok_per_s is not the sum of input and output"
    if point.load.kind == "closed" and point.concurrency.value is not None:
        off = abs(point.concurrency.value - point.load.level) > validity.CONCURRENCY * point.load.level
        if off and not any(finding.code == "concurrency" for finding in point.findings):
            yield f"the finding 'concurrency' is due: {point.concurrency.value:.4g} in flight of {point.load.level:g}"
