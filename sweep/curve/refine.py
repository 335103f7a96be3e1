"""Which load to measure next: a pure function of the plan and of what has been measured, so a resumed run goes on as it would have.

With a grid: its levels in order, the whole pass once per repeat (repeats far apart in time see the drift of the endpoint).
Without: doubling from 1 until throughput no longer rises, failures begin or the cap is reached; then up to `plan.refine` cells
where they say most (`narrow.py`); then the repeats in passes; at last the first cell once more, as a check for drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.curve.narrow import narrowing
from sweep.model import Estimate, Plan, Point

MIN_GAIN = 1.03  # doubling the load for less is no longer a rise
FAILING = {"failures", "no-success", "aborted"}
ONE_LEVEL = {"single", "offline"}  # load kinds whose level is not a choice


@dataclass(frozen=True, slots=True)
class Next:
    level: float
    repeat: int
    reason: str


def next_level(plan: Plan, points: Sequence[Point]) -> Next | None:
    """The next cell's load, or None when the curve is complete."""
    done = {(point.load.level, point.repeat) for point in points}
    if plan.grid is not None:
        return _passes(plan.grid, plan.repeats, done)
    first_pass = sorted((point for point in points if point.repeat == 0), key=lambda point: point.load.level)
    sound = [point.load.level for point in first_pass if not failing(point)]
    return _further(plan, first_pass) or _passes(sound, plan.repeats, done) or _check(plan, sound, done)


def _further(plan: Plan, first_pass: Sequence[Point]) -> Next | None:
    """A level not measured yet: of the doubling, then of the refinement."""
    doubled = _doubling(plan)
    level = _next_doubling(plan, doubled, [point for point in first_pass if point.load.level in doubled])
    if level is not None:
        return Next(level, 0, "first" if level == doubled[0] else "doubling while throughput rises")
    spent = sum(point.load.level not in doubled for point in first_pass)
    step = narrowing(plan, first_pass) if spent < plan.refine else None
    return Next(step[0], 0, step[1]) if step else None


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
    """Whether the endpoint begins to fail at this load."""
    return any(finding.code in FAILING for finding in point.findings)


def flat(measured: Sequence[Point]) -> bool:
    """Whether throughput has stopped rising: one level whose interval says so, or two in a row whose values do."""
    rates = [point.rates.get("output_tok_per_s", Estimate(value=None)) for point in measured]
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
