"""Where a curve contradicts its own plan, points and endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from sweep.curve import artifact, consistent_point, declare
from sweep.curve.assemble import own_findings
from sweep.curve.frontier import AXES, frontier
from sweep.curve.setup import DECLARABLE, Facts, constraint, read_software, scenario
from sweep.errors import ArtifactError, UsageError
from sweep.findings import TABLE
from sweep.model import Curve, Frontier

FOREIGN = (ArithmeticError, KeyError, IndexError, TypeError, ValueError)  # what numbers that nobody measured lead to


def problems(curve: Curve) -> Iterator[str]:
    """One line each; what follows a table or histogram that cannot be read stays unchecked."""
    yield from _cells(curve)
    yield from _unknown_findings(curve)
    for point in curve.points:
        try:
            yield from (f"point {point.id}: {problem}" for problem in consistent_point.problems(curve, point))
        except ArtifactError as error:
            yield f"{error.message}; nothing after it was checked"
            return
        except FOREIGN as error:
            yield f"point {point.id}: cannot be checked ({type(error).__name__})"
    for check in (_times, _frontiers, _facts, _own_findings):
        try:
            yield from check(curve)
        except FOREIGN as error:
            yield f"{check.__name__.strip('_')}: cannot be checked ({type(error).__name__})"


def _cells(curve: Curve) -> Iterator[str]:
    """No cell is missing, none stands twice, and all are of the plan."""
    ids = [point.id for point in curve.points]
    if len(set(ids)) < len(ids):
        yield "two points share an id"
    held = sorted({point.cell for point in curve.points})
    if held != list(range(len(curve.points))):
        yield f"{len(curve.points)} points of cells {', '.join(map(str, held[:20]))}: one is missing or stands twice"
    if curve.profile != curve.plan.profile or curve.slos != curve.plan.slos:
        yield "the profile or the SLOs are not those of the plan"
    if any(point.load.kind != curve.plan.kind for point in curve.points):
        yield f"a point is not of the plan's load, {curve.plan.kind}"
    unmeasured = set(curve.plan.grid or ()) - {point.load.level for point in curve.points}
    explained = bool(curve.findings)  # one of them says why cells of the grid were not measured
    if curve.complete and unmeasured and "+" not in curve.run_id and not explained:
        yield f"it is called complete, and load {min(unmeasured):g} of its grid is missing"


def _times(curve: Curve) -> Iterator[str]:
    for what, moment in (
        ("created_at", curve.created_at),
        *((f"point {one.id}: started_at", one.started_at) for one in curve.points),
    ):
        try:
            datetime.fromisoformat(moment)
        except ValueError:
            yield f"{what} is no time"


def _unknown_findings(curve: Curve) -> Iterator[str]:
    codes = {finding.code for finding in (*curve.findings, *(finding for point in curve.points for finding in point.findings))}
    for code in sorted(codes - set(TABLE)):
        yield f"finding {code!r} is not known to this version"


def _frontiers(curve: Curve) -> Iterator[str]:
    for stored in curve.frontiers:
        if stored.axis in AXES and not _same_frontier(stored, frontier(curve.points, stored.axis)):
            yield f"the frontier {stored.axis} is not that of the points"


def _same_frontier(stored: Frontier, again: Frontier) -> bool:
    """Labels are words and may be said otherwise by another version."""
    kept = msgspec.structs.replace(stored, x_label=again.x_label, y_label=again.y_label)
    return bool(artifact.plain(kept) == artifact.plain(again))


def _facts(curve: Curve) -> Iterator[str]:
    """What is said of the run follows from plan and points; what was read, from the endpoint; no other file measures hardware."""
    yield from _differing("scenario", curve.scenario, scenario(curve.plan, curve.endpoint, curve.points))
    yield from _differing("constraint", curve.constraint, constraint(curve.plan))
    read = read_software(curve.endpoint)
    for section in DECLARABLE:
        for key, fact in getattr(curve, section).items():
            if (fact.value is None) != (fact.known == "missing"):
                yield f"{section}.{key} is marked {fact.known}, and {'holds nothing' if fact.value is None else 'holds something'}"
            elif fact.known == "measured" and section != "client":
                yield f"{section}.{key} is marked measured, and nothing measured it"
            elif fact.known == "read" and artifact.plain(fact.value) != artifact.plain(read.get(key)):
                yield f"{section}.{key} is marked read, and the endpoint does not say so"
            elif fact.known == "declared" and key in DECLARABLE[section]:
                try:
                    declare.checked(section, key, fact.value)
                except UsageError as error:
                    yield error.message


def _differing(section: str, stored: Facts, again: Mapping[str, Any]) -> Iterator[str]:
    """Of the keys that both have: another version may know more."""
    for key in stored.keys() & again.keys():
        if artifact.plain(stored[key]) != artifact.plain(again[key]):
            yield f"{section}.{key} is not what plan and points say"


def _own_findings(curve: Curve) -> Iterator[str]:
    stated = {finding.code for finding in curve.findings}
    for finding in own_findings(curve.points, curve.complete, curve.findings):
        if finding.code not in stated:
            yield f"the finding {finding.code!r} is due, and the curve does not have it"
    if curve.complete and "partial" in stated:
        yield "it is called complete and partial"
