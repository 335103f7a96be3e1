"""Which load to measure next: a pure function of the plan and of what has been measured, so a resumed run goes on as it would have.

With a grid: its levels in order, the whole pass once per repeat (repeats far apart in time see the drift of the endpoint).
Without: doubling from 1 until throughput no longer rises, failures begin or the cap is reached; then up to `plan.refine` cells
where they say most (`narrow.py`); then the repeats in passes; at last the first cell once more, as a check for drift. All
within the budget of endpoint time: no cell is begun that it cannot give its shortest time, and refinement keeps enough for the
last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.curve.narrow import confirming, narrowing
from sweep.model import Endpoint, Estimate, Plan, Point
from sweep.plan.budget import least_s
from sweep.plan.effort import REFINEMENT

MIN_GAIN = 1.03  # doubling the load for less is no longer a rise
FAILING = {"failures", "no-success", "aborted", "overloaded"}
REFUSED = 0.01  # of the requests, for want of capacity: more load would only be refused too
ONE_LEVEL = {"single", "offline"}  # load kinds whose level is not a choice


@dataclass(frozen=True, slots=True)
class Next:
    level: float
    repeat: int
    reason: str


def next_level(plan: Plan, points: Sequence[Point], endpoint: Endpoint | None = None) -> Next | None:
    """The next cell's load, or None when the curve is complete or the budget spent. `endpoint` tells how long a cell takes."""
    step = unlimited(plan, points)
    return None if step is None or over_budget(plan, points, step.level, endpoint) else step


def unlimited(plan: Plan, points: Sequence[Point]) -> Next | None:
    """As `next_level`, whatever was spent until now; None when the curve is complete."""
    done = {(point.load.level, point.repeat) for point in points}
    if plan.grid is not None:
        return _passes(plan.grid, plan.repeats, done)
    first_pass = sorted((point for point in points if point.repeat == 0), key=lambda point: point.load.level)
    sound = [point.load.level for point in first_pass if not failing(point)]
    return (
        _further(plan, points, first_pass)
        or _passes(sound, plan.repeats, done)
        or _confirm(plan, points)
        or _check(plan, sound, done)
    )


def levels_ahead(plan: Plan, points: Sequence[Point], step: Next) -> tuple[float, ...]:
    """The levels that will be measured after `step` whatever it finds, at most: what a budget must last for."""
    done = {(point.load.level, point.repeat) for point in points} | {(step.level, step.repeat)}
    if plan.grid is not None:
        return tuple(level for repeat in range(plan.repeats) for level in plan.grid if (level, repeat) not in done)
    doubled, last = _doubling(plan), (1.0, plan.repeats)
    larger = [level for level in doubled if level > step.level] if step.level in doubled and step.repeat == 0 else []
    return (*larger, *([1.0] if last not in done else []))


def rival_tok_per_s(plan: Plan, points: Sequence[Point], level: float) -> float | None:
    """What smaller loads of a closed loop are sure to deliver; a load that delivers less has longer latencies, by Little's law.

    None where the levels were chosen: then each is to be known.
    """
    if plan.grid is not None or plan.kind != "closed":
        return None
    smaller = [point.rate("output_tok_per_s").low for point in points if point.load.level < level and not point.disqualified]
    return max((low for low in smaller if low is not None), default=None)


def spent_s(points: Sequence[Point]) -> float:
    """Endpoint time until now."""
    return sum(point.busy_s or 0.0 for point in points)


def left_s(plan: Plan, points: Sequence[Point]) -> float | None:
    """Of the budget, None without one."""
    return None if plan.budget_s is None else max(0.0, plan.budget_s - spent_s(points))


def over_budget(plan: Plan, points: Sequence[Point], level: float, endpoint: Endpoint | None) -> bool:
    """Whether what is left of the budget is less than a cell at this level takes at least, as far as that is known."""
    left = left_s(plan, points)
    return left is not None and (left <= 0 or left < (least_s(plan, endpoint, level) or 0.0))


def _further(plan: Plan, points: Sequence[Point], first_pass: Sequence[Point]) -> Next | None:
    """A level not measured yet: of the doubling, then of the refinement."""
    doubled = _doubling(plan)
    level = _next_doubling(plan, doubled, [point for point in first_pass if point.load.level in doubled])
    if level is not None:
        return Next(level, 0, "first" if level == doubled[0] else "doubling while throughput rises")
    step = narrowing(plan, first_pass) if _may_refine(plan, points, doubled) else None
    return Next(step[0], 0, step[1]) if step and _affordable(plan, points, doubled, step[0]) else None


def _confirm(plan: Plan, points: Sequence[Point]) -> Next | None:
    """A vertex of the frontier with fresh prompts: what looks best of many may only have been lucky."""
    doubled = _doubling(plan)
    level = confirming(plan, points) if _may_refine(plan, points, doubled) else None
    if level is None or not _affordable(plan, points, doubled, level):
        return None
    return Next(level, plan.repeats, "a vertex of the frontier again, with fresh prompts")


def _may_refine(plan: Plan, points: Sequence[Point], doubled: Sequence[float]) -> bool:
    """Whether cells are left beyond the doubling and the repeats asked for."""
    beyond = sum((point.load.level not in doubled and point.repeat == 0) or point.repeat >= plan.repeats for point in points)
    return beyond < plan.refine


def _affordable(plan: Plan, points: Sequence[Point], doubled: Sequence[float], level: float) -> bool:
    """Whether the budget holds this cell, which takes as long as its neighbours did, and the last one."""
    first = [point for point in points if point.repeat == 0]
    doubling_s = spent_s([point for point in first if point.load.level in doubled])
    budget_s = plan.budget_s or (1 + REFINEMENT) * doubling_s
    near_s = max((point.busy_s or 0.0 for point in first if point.load.level <= level), default=0.0)
    last_s = next((point.busy_s or 0.0 for point in first if point.load.level == doubled[0]), 0.0)
    return spent_s(points) + near_s + last_s <= budget_s


def _passes(levels: Sequence[float], repeats: int, done: set[tuple[float, int]]) -> Next | None:
    order = ((level, repeat) for repeat in range(repeats) for level in levels)
    step = next((step for step in order if step not in done), None)
    return Next(*step, f"repeat {step[1]}" if step[1] else "grid") if step else None


def _check(plan: Plan, sound: Sequence[float], done: set[tuple[float, int]]) -> Next | None:
    """The first cell once more, unless the endpoint failed in it already."""
    if 1.0 not in sound or (1.0, plan.repeats) in done:
        return None
    return Next(1.0, plan.repeats, "the first cell again, to see whether the endpoint drifted")


def _doubling(plan: Plan) -> list[float]:
    """1, 2, 4 … and the cap itself."""
    cap = 1 if plan.kind in ONE_LEVEL else plan.max_concurrency
    return [float(2**power) for power in range(cap.bit_length()) if 2**power < cap] + [float(cap)]


def _next_doubling(plan: Plan, doubled: Sequence[float], measured: Sequence[Point]) -> float | None:
    """The next level of the doubling, None once it has ended. `measured` by ascending level."""
    ended = bool(measured) and (failing(measured[-1]) or flat(measured))
    return None if ended or len(measured) == len(doubled) else doubled[len(measured)]


def failing(point: Point) -> bool:
    """Whether the endpoint begins to fail at this load, or to refuse it."""
    refused = point.outcomes.get("rate_limited", 0) > REFUSED * point.cohort
    return refused or any(finding.code in FAILING for finding in point.findings)


def flat(measured: Sequence[Point]) -> bool:
    """Whether throughput has stopped rising: one level whose interval says so, or two in a row whose values do."""
    rates = [point.rate("output_tok_per_s") for point in measured]
    if len(rates) < 2:
        return False
    verdicts = [rise(_best(rates[:place]), rates[place]) for place in range(1, len(rates))]
    return verdicts[-1] == "no" or [verdict in {"no", "unlikely"} for verdict in verdicts[-2:]] == [True, True]


def rise(before: Estimate, after: Estimate) -> str:
    """`yes` and `no` where the intervals decide, `likely` and `unlikely` where only the values can."""
    if before.value is None or after.value is None:
        return "yes" if before.value is None and after.value is not None else "no"
    if before.high is not None and after.low is not None and after.low > before.high * MIN_GAIN:
        return "yes"
    if before.low is not None and after.high is not None and after.high < before.low * MIN_GAIN:
        return "no"
    return "likely" if after.value > before.value * MIN_GAIN else "unlikely"


def _best(rates: Sequence[Estimate]) -> Estimate:
    return max(rates, key=lambda rate: rate.value if rate.value is not None else float("-inf"))
