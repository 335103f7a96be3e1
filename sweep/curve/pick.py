"""Which measured load meets an SLO that may be younger than the file, and where between two loads it ceases to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from sweep.curve.boundary import Boundary, boundary
from sweep.curve.frontier import X, frontier
from sweep.curve.interpolate import Answer, Rule, at
from sweep.curve.judged import Judged, judged
from sweep.errors import UsageError
from sweep.measure import quantile
from sweep.model import Curve, Load, Slo, Verdict3


@dataclass(frozen=True, slots=True)
class Reading:
    """What the frontier of an axis gives where users get `x`, which is what the SLO asks of that axis' metric."""

    axis: str
    x_label: str
    y_label: str
    x: float
    answer: Answer


@dataclass(frozen=True, slots=True)
class Pick:
    """`highest`: the highest measured load that meets the SLO; `best`: the load of the highest goodput under it.

    `boundary` is None where no load meets it, or where the highest measured one does.
    """

    slo: Slo
    verdict: Verdict3
    highest: Judged | None
    boundary: Boundary | None
    best: Judged | None
    loads: tuple[Judged, ...]
    rate_unit: str  # of goodput in tokens, or what the dialect counts
    left_out: tuple[Load, ...]  # loads of which every point is disqualified

    @property
    def unreachable(self) -> bool:
        """Whether every measured load misses it."""
        return self.verdict == "missed"

    @property
    def standing(self) -> Literal["measured", "interpolated", "unreachable", "undecided"]:
        """How the highest load that meets the SLO is known."""
        if self.highest is None:
            return "unreachable" if self.unreachable else "undecided"
        return "measured" if self.boundary is None else "interpolated"


def pick(curve: Curve, slo: Slo, rule: Rule = "pchip") -> Pick:
    """Disqualified points answer nothing. `rule` interpolates between loads. ArtifactError where a table does not hold."""
    trusted = sorted((point for point in curve.points if not point.disqualified), key=lambda point: point.load.level)
    groups = [(level, list(members)) for level, members in groupby(trusted, key=lambda point: point.load.level)]
    loads = tuple(judged(level, members, slo) for level, members in groups)
    meeting = [place for place, load in enumerate(loads) if load.verdict == "met"]
    highest = meeting[-1] if meeting else None
    last = highest is None or highest + 1 == len(loads)
    answering = {load.load for load in loads}
    return Pick(
        slo=slo,
        verdict=_overall([load.verdict for load in loads]),
        highest=None if highest is None else loads[highest],
        boundary=None if highest is None or last else boundary(groups, highest, slo, rule),
        best=max((load for load in loads if load.goodput_req_per_s.value), key=_goodput, default=None),
        loads=loads,
        rate_unit=curve.endpoint.rate_unit,
        left_out=tuple(dict.fromkeys(point.load for point in curve.points if point.load not in answering)),
    )


def reading(curve: Curve, slo: Slo, axis: str, rule: Rule = "pchip") -> Reading:
    """The frontier of an axis pair of `AXES`, at the percentile and the place that the SLO's bound on its metric names.

    A percentile the file does not hold is read at the next stricter one. Raises UsageError where the SLO does not bound that metric.
    """
    horizontal = X[axis.split("/")[1]]
    bound = next((one for one in slo.bounds if f"{one.metric}_s" == horizontal.metric), None)
    if bound is None:
        able = [name for name in X if X[name].metric in {f"{one.metric}_s" for one in slo.bounds}]
        raise UsageError(f"--axis {axis}: {slo.name} bounds nothing on this axis", f"it does on: {', '.join(able)}")
    wanted = 1.0 if bound.quantile is None else bound.quantile
    stricter = [name for name, q in quantile.QUANTILES.items() if q >= wanted]
    statistic = min(stricter, key=lambda name: quantile.QUANTILES[name], default="max")
    front = frontier(curve.points, axis, statistic, rate_unit=curve.endpoint.rate_unit)
    x = 1 / bound.limit_s
    return Reading(axis, front.x_label, front.y_label, x, at(front.vertices, x, rule))


def _overall(verdicts: Sequence[Verdict3]) -> Verdict3:
    """Met by some load; missed only when every load misses it."""
    if "met" in verdicts:
        return "met"
    return "missed" if verdicts and set(verdicts) == {"missed"} else "undecided"


def _goodput(load: Judged) -> tuple[float, float]:
    return (load.goodput_req_per_s.value or 0.0, -load.level)
