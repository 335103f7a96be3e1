"""What is remarkable about a night beside its figures: gaps, another grid, another system, points that do not count."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from sweep.curve.nightly.alarm import Failures, error_jump, failures, pooled
from sweep.curve.nightly.tracks import MIN_NIGHTS
from sweep.model import Finding, Night

LATE = 1.5  # of the usual gap between nights …
CADENCE_NIGHTS = 30  # … over so many


def notices(nights: Sequence[Night], place: int, baseline: Sequence[Failures]) -> list[Finding]:
    """Findings about `nights[place]`, against the night before it and the failures of the baseline."""
    night = nights[place]
    if place == 0:
        return _disqualified(night)
    before = nights[place - 1]
    return [
        *_missing(nights, place),
        *_system(before, night),
        *_grid(before, night),
        *_disqualified(night),
        *_errors(baseline, night),
    ]


def cadence_s(nights: Sequence[Night]) -> float | None:
    """The usual time between nights; None when there are too few to say."""
    gaps = [later.at_s - earlier.at_s for earlier, later in pairwise(nights)]
    return median(gaps) if len(gaps) >= 3 else None


def _missing(nights: Sequence[Night], place: int) -> list[Finding]:
    usual = cadence_s(nights[max(0, place - CADENCE_NIGHTS) : place + 1])
    gap = nights[place].at_s - nights[place - 1].at_s
    if not usual or gap <= LATE * usual:
        return []
    return [Finding(code="nights-missing", data={"count": max(1, round(gap / usual) - 1)})]


def _system(before: Night, night: Night) -> list[Finding]:
    found = []
    for name in sorted({*before.facts, *night.facts}):
        old, new = before.facts.get(name), night.facts.get(name)
        if old != new:
            what = name.replace(".", " ").replace("_", " ")
            found.append(Finding(code="system-changed", data={"what": what, "before": _said(old), "after": _said(new)}))
    return found


def _said(value: Any) -> str:
    if value is None:
        return "not stated"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _grid(before: Night, night: Night) -> list[Finding]:
    old, new = ({cell.load.label for cell in each.cells} for each in (before, night))
    if old == new:
        return []
    return [Finding(code="grid-changed", data={"new": len(new - old), "gone": len(old - new), "learning": MIN_NIGHTS})]


def _disqualified(night: Night) -> list[Finding]:
    cells = [cell.load.label for cell in night.cells if cell.disqualified]
    return [Finding(code="night-disqualified", data={"cells": ", ".join(cells)})] if cells else []


def _errors(baseline: Sequence[Failures], night: Night) -> list[Finding]:
    if error_jump(baseline, [failures(night)]) is None:
        return []
    (failed, asked), (usual_failed, usual_asked) = failures(night), pooled(baseline)
    return [Finding(code="error-jump", data={"share": failed / asked, "usual": usual_failed / usual_asked})]
