"""Does a curve file hold? Schema and digest, what its parts say of each other, and the records where they lie beside it.

A file that was not tampered with can still be wrong; so everything that can be recomputed is: frontiers from points, SLO counts
from joint tables, percentiles from histograms, and points as a whole from the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sweep.curve import artifact
from sweep.curve.frontier import AXES, frontier
from sweep.curve.parquet import read_records
from sweep.curve.recompute import point_differences
from sweep.curve.stored import histogram_of, table_of
from sweep.errors import ArtifactError
from sweep.findings import TABLE, weight
from sweep.measure import histogram, joint
from sweep.measure.quantile import QUANTILES
from sweep.model import Curve, Frontier, Point

MAX_LIMIT_S = 1e9
HISTOGRAM_ERROR = 1.5e-3  # three digits, and the samples were rounded to µs


@dataclass(frozen=True, slots=True)
class Checked:
    """`problems`: one line each, none when the file holds. `verified` and `not_verifiable`: what was, what could not be."""

    problems: tuple[str, ...]
    verified: tuple[str, ...]
    not_verifiable: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def check(path: Path) -> Checked:
    """Reads the file and, beside it, NAME.records.parquet. Never raises for what a file can hold."""
    try:
        curve = artifact.load(path)
    except ArtifactError as error:
        return Checked((error.message,), (), ())
    verified = ["schema", "digest", "counts", "frontiers", "joint tables", "histograms"]
    problems = list(inner_problems(curve))
    beside = path.with_name(path.name.removesuffix(".curve.json") + ".records.parquet")
    if not beside.exists():
        return Checked(tuple(problems), tuple(verified), (f"records (no {beside.name} beside the file)",))
    try:
        records = read_records(beside)
    except ArtifactError as error:
        return Checked((*problems, error.message), tuple(verified), ())
    problems += [problem for point in curve.points for problem in point_differences(curve, point, records)]
    missing = (
        () if len(records.chunk_ns) else ("inter-token latency, chunk gaps, smooth rate and token rates (no chunk times kept)",)
    )
    return Checked(tuple(problems), (*verified, "records"), missing)


def inner_problems(curve: Curve) -> Iterator[str]:
    """Where the parts of the file contradict each other."""
    ids = [point.id for point in curve.points]
    if len(set(ids)) < len(ids):
        yield "two points share an id"
    yield from _unknown_findings(curve)
    for point in curve.points:
        try:
            yield from _count_problems(point)
            yield from _table_problems(point)
            yield from _histogram_problems(point)
        except ArtifactError as error:
            yield f"{error.message}; nothing after it was checked"
            return
    for stored in curve.frontiers:
        if stored.axis in AXES and not _same_frontier(stored, frontier(curve.points, stored.axis)):
            yield f"the frontier {stored.axis} is not that of the points"


def _same_frontier(stored: Frontier, again: Frontier) -> bool:
    """Labels are words and may be said otherwise by another version."""
    kept = msgspec.structs.replace(stored, x_label=again.x_label, y_label=again.y_label)
    return bool(artifact.plain(kept) == artifact.plain(again))


def _unknown_findings(curve: Curve) -> Iterator[str]:
    codes = {finding.code for finding in (*curve.findings, *(finding for point in curve.points for finding in point.findings))}
    for code in sorted(codes - set(TABLE)):
        yield f"finding {code!r} is not known to this version"


def _count_problems(point: Point) -> Iterator[str]:
    if sum(point.outcomes.values()) != point.cohort:
        yield f"point {point.id}: {sum(point.outcomes.values())} outcomes for a cohort of {point.cohort}"
    if any(count > point.outcomes_all.get(outcome, 0) for outcome, count in point.outcomes.items()):
        yield f"point {point.id}: the cohort has outcomes that the cell has not"
    if _disqualifies(point) and not point.disqualified:
        yield f"point {point.id}: a finding disqualifies it, yet it counts"


def _disqualifies(point: Point) -> bool:
    return any(finding.code in TABLE and weight(finding) == "disqualifies" for finding in point.findings)


def _table_problems(point: Point) -> Iterator[str]:
    table = table_of(point)
    if table is None:
        return
    if table.n + table.failed != point.cohort:
        yield f"point {point.id}: the joint table holds {table.n + table.failed} requests for a cohort of {point.cohort}"
    for result in point.slos:
        if any(not 0 <= part.bound.limit_s <= MAX_LIMIT_S for part in result.bounds):
            yield f"point {point.id}: {result.slo} has an impossible bound"
            continue
        bracket = joint.good(table, [bound.bound for bound in result.bounds])
        if not bracket.low <= result.good <= bracket.high:
            said = f"{result.good} requests meet {result.slo}"
            yield f"point {point.id}: {said}, by the joint table {_range(bracket.low, bracket.high)}"


def _histogram_problems(point: Point) -> Iterator[str]:
    for metric in sorted(point.histograms):
        stored, known = histogram_of(point, metric), point.metrics.get(metric, {})
        for name, q in QUANTILES.items():
            value, us = known[name].value if name in known else None, histogram.percentile_us(stored, q)
            if value is not None and (us is None or abs(value - us / 1e6) > HISTOGRAM_ERROR * value + 2e-6):
                read = "nothing" if us is None else f"{us / 1e6:.6g}"
                yield f"point {point.id}: {metric} {name} is {value:.6g}, by its histogram {read}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def summary(checked: Checked) -> Sequence[str]:
    """Lines for a person, problems first."""
    return [
        *checked.problems,
        *_line("verified", checked.verified),
        *_line("not verifiable", checked.not_verifiable),
    ]


def _line(title: str, parts: Iterable[str]) -> list[str]:
    said = ", ".join(parts)
    return [f"{title}: {said}"] if said else []
