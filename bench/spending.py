"""What a curve costs in endpoint time, and how far off it is: `python -m bench.spending [--presets …]`.

The doubling grid at 1K/1K in virtual time against the usual recipe on the same loads (2·C warm-ups, then 10·C requests, from
a cold start), both with their errors; then what refinement adds: the frontier's largest error between its points, against long
runs at loads that lie between, and the highest load that meets an SLO against the true one.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator

import msgspec

from bench.bias import Ran, cell_of, errors, lasting, measured, recipe
from sweep.curve.frontier import frontier
from sweep.curve.interpolate import curve_through
from sweep.curve.refine import next_level
from sweep.model import Plan, Point
from sweep.plan import profile, scenario, slo
from sweep.sim import virtual

PROFILE = "1k-1k"
AXIS = "output/interactivity"
SLOS = {"synthetic-8b-bf16": "tpot_p90<=15ms", "synthetic-70b-fp8": "tpot_p90<=40ms", "synthetic-120b-moe": "tpot_p90<=20ms"}
BETWEEN = (5.0, 13.0, 27.0, 54.0, 108.0, 215.0, 430.0)  # loads at which the frontier is compared with the truth
LONG_E2E = 6
ENOUGH = 12  # cells of refinement


def swept(plan: Plan, source: virtual.Source, points: list[Point]) -> float:
    """Measures what the plan asks for beyond `points`, which grow; returns the endpoint time."""
    spent_s = 0.0
    while (step := next_level(plan, points)) is not None:
        cell = scenario.make_cell(
            plan, source.probe(), index=len(points), level=step.level, repeat=step.repeat, first_request=10_000 * len(points)
        )
        ran = measured(cell, source, plan.slos)
        points.append(ran.point)
        spent_s += ran.spent_s
    return spent_s


class Truth:
    """Long runs, each made once."""

    def __init__(self, plan: Plan, source: virtual.Source) -> None:
        self._plan, self._source = plan, source
        self._known: dict[float, Ran] = {}

    def at(self, level: float) -> Ran:
        if level not in self._known:
            cell = cell_of(self._plan, self._source, level)
            e2e_s = measured(cell, self._source).point.metrics["e2e_s"]["mean"].value or 1.0
            self._known[level] = lasting(cell, self._source, LONG_E2E * e2e_s)
        return self._known[level]

    def highest(self, limit_s: float, low: int, high: int) -> int:
        """The highest load whose TPOT p90 keeps the limit; `low` keeps it, `high` does not."""
        while high - low > 1:
            middle = (low + high) // 2
            kept = (self.at(float(middle)).point.metrics["tpot_s"]["p90"].value or math.inf) <= limit_s
            low, high = (middle, high) if kept else (low, middle)
        return low


def ln_error(points: list[Point], truth: Truth) -> float:
    """The largest |ln F − ln truth| of the interpolated frontier at loads between its ends."""
    vertices = frontier(points, AXIS).vertices
    through = curve_through(vertices, "pchip")
    worst = 0.0
    for level in BETWEEN:
        if level < max(point.load.level for point in points):
            true = truth.at(level).point
            x, y = 1 / (true.metrics["tpot_s"]["p50"].value or math.inf), true.rates["output_tok_per_s"].value or 0.0
            if vertices[0].x <= x <= vertices[-1].x:
                worst = max(worst, abs(math.log(through(x) / y)))
    return worst


def highest(points: list[Point], name: str) -> float:
    met = [point.load.level for point in points if any(one.slo == name and one.verdict == "met" for one in point.slos)]
    return max(met, default=math.nan)


def of_preset(preset: str) -> Iterator[str]:
    source = virtual.Source(preset)
    asked = slo.parse(SLOS[preset])
    plain = scenario.make_plan(profile.load_profile(PROFILE), slos=(), seed=1, refine=0)
    truth = Truth(plain, source)
    points: list[Point] = []
    ours_s = swept(plain, source, points)
    last = max(points, key=lambda point: point.cell)
    ours_s -= last.busy_s or 0.0  # the check for drift, which the recipe does not make
    theirs_s, worst = 0.0, {"ours": [0.0] * 3, "recipe": [0.0] * 3}
    for one in points[:-1]:
        figures, spent_s = recipe(cell_of(plain, source, one.load.level), source)
        theirs_s += spent_s
        if one.load.level in (4, 16, 64, 256):
            true = truth.at(one.load.level).figures
            for who, said in (("ours", Ran(one, 0.0).figures), ("recipe", figures)):
                worst[who] = [max(a, abs(b)) for a, b in zip(worst[who], errors(said, true).values(), strict=True)]
    loads = f"1 to {points[-2].load.level:g}"
    wrong = {who: ", ".join(f"{each:.1%}" for each in found) for who, found in worst.items()}
    yield f"{preset}, {PROFILE}"
    yield f"  doubling {loads}: {ours_s:.0f} s of endpoint time, recipe {theirs_s:.0f} s: {ours_s / theirs_s:.2f} (goal 0.30)"
    yield f"  largest errors of throughput, TPOT p50, TTFT p50: {wrong['ours']}; the recipe's {wrong['recipe']}"
    yield f"  frontier between the points of the doubling: {ln_error(points, truth):.1%} at most"
    limit_s = asked[0].bounds[0].limit_s
    refined = msgspec.structs.replace(plain, slos=asked, refine=ENOUGH, budget_s=1e9)
    again = [measured(cell_of(refined, source, one.load.level), source, asked).point for one in points[:-1]]
    again = [msgspec.structs.replace(one, cell=place) for place, one in enumerate(again)]
    begun = len(again)
    more_s = swept(refined, source, again)
    found, most = highest(again, asked[0].name), max(one.load.level for one in again)
    best = truth.highest(limit_s, 1, round(most))
    yield f"  refinement: {len(again) - begun} cells more, {more_s:.0f} s; then {ln_error(again, truth):.1%} at most (goal 5 %)"
    yield f"  highest load with {asked[0].name}: {found:g}, in truth {best} (goal 3 %: {found / best - 1:+.1%})"


def table(presets: list[str], tell: Callable[[], float]) -> Iterator[str]:
    for preset in presets:
        yield from of_preset(preset)
    yield f"{tell():.0f} s"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.spending", description=__doc__)
    parser.add_argument("--presets", default="synthetic-8b-bf16", help="separated by commas")
    presets = parser.parse_args(arguments).presets.split(",")
    began = time.perf_counter()
    for line in table(presets, lambda: time.perf_counter() - began):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
