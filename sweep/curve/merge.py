"""Several curves of one workload into one: repeats stay points of their own, shards of a cell become one point.

Counts, histograms and joint tables add exactly. The SLOs that all runs were judged by are kept. Different workloads, systems
that are declared to differ, one run given twice, and shards of different times are refused.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import reduce

import msgspec

from sweep.curve.artifact import as_stored
from sweep.curve.assemble import own_findings
from sweep.curve.frontier import frontiers
from sweep.curve.repeats import repeats
from sweep.curve.setup import MISSING, Facts, constraint, scenario
from sweep.curve.shards import add
from sweep.curve.simultaneous import least_cover
from sweep.curve.workload import differences, says, shown
from sweep.errors import TrustError, UsageError
from sweep.model import Curve, Finding, Point, Slo

FULL_COVER, REFUSED_COVER = 0.95, 0.5  # of a shard's window by the others' load
AS_REPEATS = "leave out --shards to merge them as repeats"
OF_THE_CURVE = {"partial", "one-vertex", "moved"}  # findings that are noticed anew


def merge_repeats(curves: Sequence[Curve], name: str | None = None) -> Curve:
    """All points of all runs, numbered as repeats in the order given; named as the first, or `name`. TrustError, UsageError."""
    return _merged(curves, _renumbered, name)


def merge_shards(curves: Sequence[Curve], name: str | None = None) -> Curve:
    """Cells of the same number, measured at the same time by several clients, as one cell each. Raises TrustError, UsageError."""
    cells = {tuple(sorted((point.cell, point.repeat) for point in curve.points)) for curve in curves}
    if len(cells) > 1:
        raise UsageError("these shards do not hold the same cells", "merge them as repeats, or name the shards of one sweep")
    if any(curve.endpoint.url.startswith("virtual:") for curve in curves):
        raise TrustError("shards in virtual time were never under load together: each had a time of its own", AS_REPEATS)
    return _merged(curves, _added, name)


def _merged(curves: Sequence[Curve], together: Callable[[Sequence[Curve]], tuple[Point, ...]], name: str | None) -> Curve:
    if not curves:
        raise UsageError("nothing to merge", "name two curve files or more")
    runs = Counter(run for curve in curves for run in curve.run_id.split("+"))
    twice = [run for run, count in runs.items() if count > 1]
    if twice:
        raise UsageError(f"run {twice[0]} is given twice", "name each run once")
    for other in curves[1:]:
        _require_same_work(curves[0], other)
    curves = _by_common_slos(curves)
    first = curves[0]
    try:
        points = as_stored(together(curves))
    except ValueError as error:
        raise TrustError(f"these numbers cannot be added: {error}", "one of the files is not a measurement") from None
    complete = all(curve.complete for curve in curves)
    inherited = _unique([finding for curve in curves for finding in curve.findings if finding.code not in OF_THE_CURVE])
    return msgspec.structs.replace(
        first,
        name=name or first.name,
        created_at=min(curve.created_at for curve in curves),
        run_id="+".join(dict.fromkeys(run for curve in curves for run in curve.run_id.split("+"))),
        scenario=scenario(first.plan, first.endpoint, points),
        software=reduce(_union, (curve.software for curve in curves)),
        hardware=reduce(_union, (curve.hardware for curve in curves)),
        price=reduce(_union, (curve.price for curve in curves)),
        client=reduce(_agreed, (curve.client for curve in curves)),
        points=points,
        frontiers=frontiers(points, first.endpoint.rate_unit),
        findings=(*inherited, *own_findings(points, complete, inherited)),
        complete=complete,
        repeats=repeats(points),
        previous_digests=tuple(dict.fromkeys(digest for curve in curves for digest in _digests(curve))),
        digest=None,
    )


def _by_common_slos(curves: Sequence[Curve]) -> list[Curve]:
    """As if each run had been judged only by the SLOs that all name; the others can be asked of the merged file."""
    common = tuple(slo for slo in curves[0].slos if all(slo in curve.slos for curve in curves))
    return [_judged_by(common, curve) for curve in curves]


def _judged_by(slos: tuple[Slo, ...], curve: Curve) -> Curve:
    limits = msgspec.structs.replace(curve.plan.limits, slos=tuple(slo for slo in curve.plan.limits.slos if slo in slos))
    plan = msgspec.structs.replace(curve.plan, slos=slos, limits=limits)
    points = tuple(
        msgspec.structs.replace(point, slos=tuple(one for slo in slos for one in point.slos if one.slo == slo.name))
        for point in curve.points
    )
    return msgspec.structs.replace(
        curve, slos=slos, plan=plan, points=points, constraint={**curve.constraint, "slos": constraint(plan)["slos"]}
    )


def _renumbered(curves: Sequence[Curve]) -> tuple[Point, ...]:
    """Each level's points as repeats 0, 1, …; cells in one order."""
    seen: Counter[tuple[str, float]] = Counter()
    points: list[Point] = []
    for point in (point for curve in curves for point in curve.points):
        load = (point.load.kind, point.load.level)
        identity = f"{point.load.label}.{seen[load]}"
        points.append(msgspec.structs.replace(point, id=identity, repeat=seen[load], cell=len(points)))
        seen[load] += 1
    return tuple(points)


def _added(curves: Sequence[Curve]) -> tuple[Point, ...]:
    shards: defaultdict[tuple[int, int], list[Point]] = defaultdict(list)
    for point in (point for curve in curves for point in curve.points):
        shards[point.cell, point.repeat].append(point)
    return tuple(_as_one(parts) for _, parts in sorted(shards.items()))


def _as_one(parts: Sequence[Point]) -> Point:
    """Raises TrustError for shards that were not measured at the same time."""
    cover, added = least_cover(parts), add(parts)
    if cover is not None and cover < REFUSED_COVER:
        raise TrustError(
            f"the shards of {added.load.label} were not measured at the same time: "
            f"of one's window {cover:.0%} lay within another's time under load",
            AS_REPEATS,
        )
    if cover is None or cover < FULL_COVER:
        apart = Finding(code="shards-apart", data={"share": cover})
        return msgspec.structs.replace(added, findings=(*added.findings, apart))
    return added


def _require_same_work(first: Curve, other: Curve) -> None:
    found = differences(first, other)
    if first.endpoint.model != other.endpoint.model:
        found["model"] = (first.endpoint.model, other.endpoint.model)
    if found:
        said = [f"{key}: {says(key)} ({shown(ours)} and {shown(theirs)})" for key, (ours, theirs) in found.items()]
        raise TrustError(
            f"{first.name} and {other.name} are different workloads; {'; '.join(said)}",
            "`sweep compare` puts them side by side",
        )


def _union(ours: Facts, theirs: Facts) -> Facts:
    """What either knows. Raises TrustError where both know and differ."""
    merged = dict(ours)
    for key, fact in theirs.items():
        mine = merged.get(key, MISSING)
        if mine.value is not None and fact.value is not None and mine.value != fact.value:
            raise TrustError(
                f"{key} differs: {shown(mine.value)} and {shown(fact.value)}", "only runs of the same system merge"
            )
        merged[key] = mine if mine.value is not None else fact
    return merged


def _agreed(ours: Facts, theirs: Facts) -> Facts:
    """What both say alike; the rest is missing."""
    return {key: ours[key] if key in ours and ours[key] == theirs.get(key) else MISSING for key in {**ours, **theirs}}


def _digests(curve: Curve) -> tuple[str, ...]:
    return (*curve.previous_digests, *((curve.digest,) if curve.digest else ()))


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for place, finding in enumerate(findings) if finding not in findings[:place]]
