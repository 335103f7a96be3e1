"""What is suspicious about a night, and whether later nights confirm it: the false-alarm budget and the smallest effect.

The budget is one false alarm in `nights_per_alarm` nights over everything, half for the curve track (shared by the metrics), half
for the point track (shared by metrics × loads). A suspicion is confirmed by the nights after it alone, at `CONFIRM` shared by
all that are suspected together: chance must strike twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from scipy import special

from sweep.curve.nightly.metric import Metric
from sweep.curve.nightly.series import Floats, Series
from sweep.curve.nightly.tracks import Reference, Tested, curve_track, point_track
from sweep.model import Change, Direction, Night, Suspect

CONFIRM = 0.005
ERRORS = "errors"
ERROR_RISE = 0.005  # share of requests, above the worst night of the baseline
ERROR_P = 1e-4

SIGNS: dict[Direction, float] = {"worse": 1.0, "better": -1.0}
Key = tuple[str, str, str | None, Direction]
Failures = tuple[int, int]  # failed and all requests


@dataclass(frozen=True, slots=True)
class Shares:
    """p below which one test raises an alarm, by track."""

    curve: float
    point: float


def shares(nights_per_alarm: float, metrics: int, figures: int) -> Shares:
    half = 0.5 / nights_per_alarm
    return Shares(half / max(1, metrics), half / max(1, figures))


def key(suspect: Suspect) -> Key:
    """What a suspicion is about, whatever its size tonight."""
    return (suspect.track, suspect.metric, suspect.cell, suspect.direction)


def raised(table: Series, against: Reference, night: int, allowed: Shares) -> list[Suspect]:
    """Everything about one night that is beyond its share of the budget and beyond its metric's smallest effect."""
    return _wholes(_beyond(table, against, table.y[night : night + 1], allowed))


def confirmed(table: Series, against: Reference, nights: Sequence[int], suspects: Iterable[Suspect]) -> list[Suspect]:
    """Those suspicions that these nights, averaged, show again; their `change` is what these nights say."""
    pending = {key(suspect) for suspect in suspects}
    share = CONFIRM / max(1, len(pending))
    again = _beyond(table, against, table.y[list(nights)], Shares(share, share))
    return [suspect for suspect in again if key(suspect) in pending]


def in_full(
    table: Series, before: Reference, early: Sequence[int], nights: Sequence[int], change: Change
) -> tuple[Suspect, ...]:
    """What a change comes to by all its nights: also the figures that its first nights show to have moved along."""
    figures = before.judgeable(table.y[early[-1]])
    allowed = Shares(CONFIRM / len(table.metrics), CONFIRM / max(1, figures))
    with_it = {key(one) for one in _beyond(table, before, table.y[list(early)], allowed)}
    moved = [one for one in _beyond(table, before, table.y[list(nights)], allowed) if key(one) in with_it]
    found = {key(one): one for one in (*change.suspects, *moved) if one.direction == change.direction}
    return tuple(_wholes(found.values()))


def covered(changes: Iterable[Change], suspect: Suspect) -> bool:
    """Whether a suspicion is part of these changes: the same figure, or a point of a curve that moved as a whole."""
    known = [one for change in changes for one in change.suspects if one.direction == suspect.direction]
    return any(one.metric == suspect.metric and one.cell in (None, suspect.cell) for one in known)


def undone(suspect: Suspect) -> Suspect:
    """The loss of a gain."""
    return msgspec.structs.replace(suspect, direction="worse", change=1 / (1 + suspect.change) - 1)


def _wholes(suspects: Iterable[Suspect]) -> list[Suspect]:
    """Without the points of a curve that moved as a whole."""
    every = list(suspects)
    wholes = {(one.metric, one.direction) for one in every if one.track == "curve"}
    return [one for one in every if one.track != "point" or (one.metric, one.direction) not in wholes]


def limit(metric: Metric, tested: Tested, place: int, share: float) -> float:
    """The effect that raises an alarm: significant, and large enough to matter."""
    significant = -float(special.stdtrit(tested.freedom[place], share)) * float(tested.error[place])
    return max(significant, float(np.log1p(metric.floor)))


def _beyond(table: Series, against: Reference, nights: Floats, allowed: Shares) -> list[Suspect]:
    curve, point = curve_track(against, nights), point_track(against, nights)
    floors = np.log1p([metric.floor for metric in table.metrics])
    found = []
    for direction, sign in SIGNS.items():
        for tested, share, wide in ((curve, allowed.curve, floors), (point, allowed.point, floors[:, None])):
            p = tested.p_worse if direction == "worse" else tested.p_better
            hit = (p < share) & (sign * tested.effect > wide)  # NaN is never a hit
            for place in zip(*np.nonzero(hit), strict=True):
                metric = table.metrics[place[0]]
                found.append(
                    Suspect(
                        metric=metric.name,
                        track="curve" if tested is curve else "point",
                        cell=None if tested is curve else table.loads[place[1]].label,
                        direction=direction,
                        change=relative(metric, float(tested.effect[place])),
                        p=float(p[place]),
                    )
                )
    return found


def relative(metric: Metric, effect: float) -> float:
    """The change of the metric itself: +0.05 of a worsening is 5 % more latency, or 5 % less throughput."""
    return float(np.expm1(metric.sign * effect)) + 0.0  # never −0.0


def failures(night: Night) -> Failures:
    """Failed and all requests of a night, over every load, disqualified ones too."""
    return sum(cell.failed for cell in night.cells), sum(cell.cohort for cell in night.cells)


def pooled(nights: Iterable[Failures]) -> Failures:
    each = list(nights)
    return sum(failed for failed, _ in each), sum(asked for _, asked in each)


def error_jump(baseline: Sequence[Failures], nights: Sequence[Failures]) -> Suspect | None:
    """More failures than chance and the worst of the baseline's nights explain."""
    rise = error_rise(baseline, nights)
    if rise is None or rise.p >= ERROR_P:
        return None
    failed, asked = pooled(nights)
    worst = max(bad / total for bad, total in baseline if total)
    return rise if failed / asked > worst + ERROR_RISE else None


def error_rise(baseline: Sequence[Failures], nights: Sequence[Failures]) -> Suspect | None:
    """By how much the share of failures rose, and how likely by chance; None where nothing was asked."""
    (failed, asked), (usual_failed, usual_asked) = pooled(nights), pooled(baseline)
    if not asked or not usual_asked:
        return None
    p = float(special.bdtrc(failed - 1, asked, (usual_failed + 0.5) / (usual_asked + 1)))
    change = failed / asked - usual_failed / usual_asked
    return Suspect(metric=ERRORS, track="errors", cell=None, direction="worse", change=change, p=p)
