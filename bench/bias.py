"""What a short window gets wrong, and what it saves: `python -m bench.bias [--full] [--presets …] [--profiles …] [--levels …]`.

Cells of the simulated presets in virtual time, started in mid-flight and ended by the stop rule, against a long run of the same
load; and beside them the usual recipe, 2·C warm-ups and then 10·C requests from a cold start, with its own errors. Errors are
means over seeds ± their standard error (the long run's included); seeds are added until that is a third of the goal or they
are `MOST`. So bias is told from noise; noise is what intervals are for, and `held` is the share of them that hold the truth.
The default takes a few cells of each kind and few seeds, half a minute of one core; `--full` takes everything, an hour or more.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

import numpy as np

from bench.cells import FIGURES, PRESETS, Long, Ran, cell_of, errors, full, long_run, measured, plan_of, recipe
from bench.lines import show
from sweep.model import Profile
from sweep.plan import lengths
from sweep.plan.profile import load_profile
from sweep.sim import virtual

GOALS = dict(zip(FIGURES, (0.005, 0.01, 0.03), strict=True))
LEVELS = (4.0, 16.0, 64.0, 256.0)
SHORT: dict[str, tuple[float, ...]] = {"1k-1k": (16.0, 64.0), "8k-1k": (16.0,), "1k-8k": (4.0,), "chat": (16.0,)}
FULL: dict[str, tuple[float, ...]] = dict.fromkeys(
    ("1k-1k", "8k-1k", "1k-8k", "1k-1k-ifx", "8k-1k-ifx", "1k-8k-ifx", "chat", "rag"), LEVELS
)
TRUTH_E2E = 20  # length of the long run
TRUTH_REQUESTS = 10_000  # and its fewest requests where they differ
TRUTH_TOKENS = 8e6  # what fits into memory and patience, but no less than `TRUTH_LEAST` latencies
TRUTH_LEAST = 6
FEWEST, FEWEST_VARIED = 3, 8  # seeds: where lengths vary, a few alike would pass for certainty
MOST, MOST_FULL = 8, 40
SIGNIFICANT = 3.0  # standard errors beyond the goal
QUIET = {"few", "imprecise"}


def compared(preset: str, name: str, level: float, least: int, most: int) -> str:
    """One row of the table."""
    source, profile = virtual.Source(preset), load_profile(name)
    first = measured(cell_of(plan_of(profile, level, 1), source, level), source)
    name = f"{preset.removeprefix('synthetic-'):<10}{name:<11}{level:>4g}"
    if len(first.figures) < len(FIGURES):
        return f"{name}   1   no window within the cap  {' '.join(_said([first]))}"
    truth = _truth(profile, source, level, first)
    ran = [first]
    fewest = FEWEST_VARIED if _varied(profile) else FEWEST
    while len(ran) < max(least, fewest) or (len(ran) < most and not _known(ran, truth)):
        ran.append(measured(cell_of(plan_of(profile, level, 1 + len(ran)), source, level), source))
    wrong = _errors(ran, truth)
    theirs, theirs_s = recipe(cell_of(plan_of(profile, level, 1), source, level), source)
    spent_s = float(np.mean([one.spent_s for one in ran]))
    inside = "".join(f"{share:>5.2f}" for share in np.mean([one.holds(truth.figures) for one in ran], axis=0))
    queues = full(profile, ran[0].point.load, preset)
    row = "".join(f"{_shown(*wrong[key])}{_mark(key, *wrong[key], queues):2}" for key in FIGURES)
    own = "".join(f"{each:>8.1%}" for each in errors(theirs, truth.figures).values())
    return (
        f"{name}{len(ran):>4}{row}{inside}{spent_s:>6.0f}"
        f"{spent_s / theirs_s:>6.2f}  {own}  {' '.join(['full'] * queues + _said(ran))}"
    )


def _truth(profile: Profile, source: virtual.Source, level: float, like: Ran) -> Long:
    e2e_s = like.point.metrics["e2e_s"]["mean"].value or 1.0
    wanted = max(TRUTH_E2E * level, TRUTH_REQUESTS if _varied(profile) else 0)
    requests = max(TRUTH_LEAST * level, min(wanted, TRUTH_TOKENS / lengths.expected(profile.osl)))
    return long_run(cell_of(plan_of(profile, level, 0), source, level), source, requests / level * e2e_s)


def _varied(profile: Profile) -> bool:
    return profile.isl.sd is not None or profile.isl.range_ratio is not None


def _errors(ran: list[Ran], truth: Long) -> dict[str, tuple[float, float]]:
    """(mean error, its standard error) of each figure."""
    found = {}
    for key in FIGURES:
        each = np.array([errors(one.figures, truth.figures)[key] for one in ran])
        spread = float(each.std(ddof=1)) / np.sqrt(len(each)) if len(each) > 1 else np.inf
        found[key] = float(each.mean()), float(np.hypot(spread, truth.error[key]))
    return found


def _known(ran: list[Ran], truth: Long) -> bool:
    spread = _errors(ran, truth)
    return all(spread[key][1] <= GOALS[key] / 3 for key in FIGURES)


def _shown(mean: float, error: float) -> str:
    return f"{mean:>8.2%} ±{error:>5.2%}"


def _mark(key: str, mean: float, error: float, queues: bool) -> str:
    """`!` where the bias is beyond its goal for sure, `?` where it may be."""
    if queues or abs(mean) <= GOALS[key]:
        return ""
    return "!" if abs(mean) - SIGNIFICANT * error > GOALS[key] else "?"


def _said(ran: list[Ran]) -> list[str]:
    """What the points themselves notice, and in how many of the runs."""
    codes = sorted({one.code for each in ran for one in each.point.findings} - QUIET)
    counts = [sum(any(one.code == code for one in each.point.findings) for each in ran) for code in codes]
    return [f"{code}:{count}" for code, count in zip(codes, counts, strict=True)]


def table(presets: list[str], cells: dict[str, tuple[float, ...]], least: int, most: int) -> Iterator[str]:
    goals = ", ".join(f"{key} {goal:.1%}" for key, goal in GOALS.items())
    yield f"errors against a long run, mean of the seeds ± standard error (goals where the endpoint is not full: {goals})"
    head = "".join(f"{key:>17}" for key in FIGURES)
    yield f"{'preset':<10}{'profile':<11}{'C':>4}{'n':>4}{head}{'held':>15}{'s':>6}{'of':>6}  {'errors of the recipe':<24}  noticed"
    for preset, (name, levels) in itertools.product(presets, cells.items()):
        for level in levels:
            yield compared(preset, name, level, least, most)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.bias", description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--presets", help="these only, separated by commas")
    parser.add_argument("--profiles", help="these only, separated by commas")
    parser.add_argument("--levels", help="these only, separated by commas")
    parser.add_argument("--least", type=int, default=0, help=f"seeds a cell: {FEWEST}, where lengths vary {FEWEST_VARIED}")
    parser.add_argument("--most", type=int, help=f"seeds a cell: {MOST}, with --full {MOST_FULL}")
    asked = parser.parse_args(arguments)
    cells = FULL if asked.full else SHORT
    if asked.profiles:
        cells = dict.fromkeys(asked.profiles.split(","), LEVELS)
    if asked.levels:
        cells = dict.fromkeys(cells, tuple(float(level) for level in asked.levels.split(",")))
    presets = asked.presets.split(",") if asked.presets else list(PRESETS)
    most = asked.most or (MOST_FULL if asked.full else MOST)
    show(table(presets, cells, asked.least, most))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
