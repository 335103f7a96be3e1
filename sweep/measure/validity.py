"""Is the point to be trusted? What was noticed, by code of `findings.py`."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.findings import weight
from sweep.model import Cell, Endpoint, Finding, Outcome, Point
from sweep.records import Records


def findings(
    cell: Cell,
    records: Records,
    cohort: Records,
    point: Point,
    endpoint: Endpoint | None,
    ended_reason: str,
    lost: int,
) -> tuple[Finding, ...]:
    ok = point.outcomes_all.get(Outcome.OK, 0)
    if ok == 0:
        return (Finding(code="no-success", data={"what": ", ".join(point.outcomes_all)}),)
    return ()


def disqualifies(noticed: Sequence[Finding]) -> bool:
    return any(weight(one) == "disqualifies" for one in noticed)
