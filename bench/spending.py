"""What a curve costs in endpoint time, and how far off it is: `python -m bench.spending [--full] [--presets …]`.

The doubling grid at 1K/1K in virtual time against the usual recipe on the same loads (2·C warm-ups, then 10·C requests, from
a cold start), both with their errors at the loads where the endpoint is not full; then what refinement adds: the frontier's
largest error between its points, against long runs at loads that lie between, and the highest load that meets an SLO against the
true one.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence

import msgspec

from bench.cells import FIGURES, PRESETS, Figures, Long, Ran, cell_of, errors, full, long_run, measured, plan_of, recipe
from bench.lines import show
from sweep.curve.frontier import frontier
from sweep.curve.interpolate import curve_through
from sweep.curve.refine import next_level, rival_tok_per_s
from sweep.model import Plan, Point, Profile
from sweep.plan import scenario, slo
from sweep.plan.profile import load_profile
from sweep.sim import virtual

PROFILE = "1k-1k"
AXIS = "output/interactivity"
SLOS = {"synthetic-8b-bf16": "tpot_p90<=15ms", "synthetic-70b-fp8": "tpot_p90<=40ms", "synthetic-120b-moe": "tpot_p90<=15ms"}
BETWEEN = (5.0, 13.0, 27.0, 54.0, 108.0, 215.0, 430.0)  # loads at which the frontier is compared with the truth
TRUTH_E2E = 6
CELLS = 12  # of refinement


class Truth:
    """Long runs, each made once."""

    def __init__(self, profile: Profile, source: virtual.Source) -> None:
        self._profile, self._source = profile, source
        self._known: dict[float, Long] = {}

    def at(self, level: float) -> Long:
        if level not in self._known:
            cell = cell_of(plan_of(self._profile, level, 0), self._source, level)
            e2e_s = measured(cell, self._source).point.metrics["e2e_s"]["mean"].value or 1.0
            self._known[level] = long_run(cell, self._source, TRUTH_E2E * e2e_s)
        return self._known[level]

    def highest(self, limit_s: float, low: int, high: int) -> int:
        """The highest load whose TPOT p90 keeps the limit; `low` keeps it, `high` does not."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.at(float(middle)).tpot_p90_s <= limit_s else (low, middle)
        return low


def swept(plan: Plan, source: virtual.Source, points: list[Point]) -> float:
    """Measures what the plan asks for beyond `points`, which grow; returns the endpoint time."""
    spent_s = 0.0
    while (step := next_level(plan, points)) is not None:
        cell = scenario.make_cell(
            plan,
            source.probe(),
            index=len(points),
            level=step.level,
            repeat=step.repeat,
            first_request=10_000 * len(points),
            rival_tok_per_s=rival_tok_per_s(plan, points, step.level),
        )
        ran = measured(cell, source, plan.slos)
        points.append(ran.point)
        spent_s += ran.spent_s
    return spent_s


def ln_error(points: Sequence[Point], truth: Truth, most: float) -> float:
    """The largest |ln F − ln truth| of the interpolated frontier at loads up to `most` between its ends."""
    vertices = frontier(points, AXIS).vertices
    through = curve_through(vertices, "pchip")
    worst = 0.0
    for level in (level for level in BETWEEN if level < most):
        true = truth.at(level).figures
        x, y = 1 / true["TPOT p50"], true["throughput"]
        if vertices[0].x <= x <= vertices[-1].x:
            worst = max(worst, abs(math.log(through(x) / y)))
    return worst


def highest(points: Sequence[Point], name: str) -> float:
    met = [point.load.level for point in points if any(one.slo == name and one.verdict == "met" for one in point.slos)]
    return max(met, default=math.nan)


def of_preset(preset: str) -> Iterator[str]:
    source, profile = virtual.Source(preset), load_profile(PROFILE)
    plain = scenario.make_plan(profile, slos=(), seed=1, refine=0)
    truth = Truth(profile, source)
    points: list[Point] = []
    ours_s = swept(plain, source, points)
    again = points.pop()  # the check for drift, which the recipe does not make
    ours_s -= again.busy_s or 0.0
    theirs = [recipe(cell_of(plain, source, one.load.level), source) for one in points]
    theirs_s = sum(spent_s for _, spent_s in theirs)
    roomy = [place for place, one in enumerate(points) if not full(profile, one.load, preset)]
    most = points[roomy[-1]].load.level
    true = [truth.at(points[place].load.level).figures for place in roomy]
    yield f"{preset}, {PROFILE}"
    yield (
        f"  doubling 1 to {points[-1].load.level:g}: {ours_s:.0f} s of endpoint time, recipe {theirs_s:.0f} s: "
        f"{ours_s / theirs_s:.2f} (goal 0.30)"
    )
    yield f"  largest errors up to {most:g} of {', '.join(FIGURES)}:"
    yield f"    {_worst([Ran(points[place], 0.0).figures for place in roomy], true)}; the recipe's {_worst([theirs[place][0] for place in roomy], true)}"
    yield f"  frontier between the points of the doubling: {ln_error(points, truth, most):.1%} at most"
    yield from _refined(preset, plain, source, points, truth, most)


def _refined(
    preset: str, plain: Plan, source: virtual.Source, points: Sequence[Point], truth: Truth, most: float
) -> Iterator[str]:
    asked = slo.parse(SLOS[preset])
    refined = msgspec.structs.replace(plain, slos=asked, refine=CELLS, budget_s=1e9)
    again = [measured(cell_of(refined, source, one.load.level), source, asked).point for one in points]
    again = [msgspec.structs.replace(one, cell=place) for place, one in enumerate(again)]
    more_s = swept(refined, source, again)
    more = len(again) - len(points)
    found = highest(again, asked[0].name)
    best = truth.highest(asked[0].bounds[0].limit_s, 1, round(points[-1].load.level))
    yield f"  refinement: {more} cells more, {more_s:.0f} s; then {ln_error(again, truth, most):.1%} at most (goal 5 %)"
    yield f"  highest load with {asked[0].name}: {found:g}, in truth {best} (goal 3 %: {found / best - 1:+.1%})"


def _worst(said: Sequence[Figures], true: Sequence[Figures]) -> str:
    each = [errors(one, real) for one, real in zip(said, true, strict=True)]
    return ", ".join(f"{max(abs(one[key]) for one in each):.1%}" for key in FIGURES)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.spending", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all presets")
    parser.add_argument("--presets", default=PRESETS[0], help="these, separated by commas")
    asked = parser.parse_args(arguments)
    presets = list(PRESETS) if asked.full else asked.presets.split(",")
    show(itertools.chain.from_iterable(map(of_preset, presets)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
