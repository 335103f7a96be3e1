"""What a short window gets wrong, and what it saves: `python -m bench.bias [--full] [--profiles …] [--levels …]`.

Cells of the simulated presets in virtual time, started in mid-flight and ended by the stop rule, against long runs of the same
cells; and beside them the usual recipe, 2·C warm-ups and then 10·C requests from a cold start, with its own errors. The
default takes fewer loads of the long profiles and leaves out the variable lengths; `--full` takes everything, in half an hour.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unittest.mock import patch

import msgspec
import numpy as np

from sweep import records
from sweep.measure import point, stop, window
from sweep.model import Cell, Outcome, Plan, Point, Slo
from sweep.plan import profile, scenario
from sweep.plan.lengths import expected
from sweep.sim import virtual
from sweep.sim.options import Options

PRESETS = ("synthetic-8b-bf16", "synthetic-70b-fp8", "synthetic-120b-moe")
LEVELS = (4.0, 16.0, 64.0, 256.0)
SHORT: dict[str, tuple[float, ...]] = {"1k-1k": LEVELS, "8k-1k": (16.0, 64.0), "1k-8k": (4.0,)}
FULL: dict[str, tuple[float, ...]] = dict.fromkeys(
    ("1k-1k", "8k-1k", "1k-8k", "1k-1k-ifx", "8k-1k-ifx", "1k-8k-ifx", "chat", "rag"), LEVELS
)
TRUTH_E2E = 20  # length of the long run
VARIED = {"chat": 100, "rag": 100}  # and where every request differs
WARM, COUNTED = 2, 10  # requests a slot of the usual recipe
FULL_AT = 0.9  # of the KV memory
REPORTS = 64  # a report every 1/64 of the time gone: nearer to the real load's half second


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell as it was measured, and how long it kept the endpoint busy, in virtual seconds."""

    point: Point
    spent_s: float

    @property
    def figures(self) -> dict[str, float]:
        of = self.point
        values = {
            "throughput": of.rates["output_tok_per_s"].value,
            "TPOT p50": of.metrics["tpot_s"]["p50"].value,
            "TTFT p50": of.metrics["ttft_s"]["p50"].value,
        }
        return {key: value for key, value in values.items() if value is not None}


def cell_of(plan: Plan, source: virtual.Source, level: float) -> Cell:
    return scenario.make_cell(plan, source.probe(), index=0, level=level, repeat=0, first_request=0)


def measured(cell: Cell, source: virtual.Source, slos: Sequence[Slo] = ()) -> Ran:
    """The cell as the stop rule ends it."""
    done, decision, last_ns = records.EMPTY, None, virtual.BASE_NS
    parts = []
    with patch.object(virtual, "REPORT_SHARE", REPORTS):
        running = source.measure(cell)
        for batch in running:
            parts.append(batch.done)
            asked_ns, last_ns = last_ns, batch.at_ns
            if decision is None:
                done = records.concat([done, batch.done])
                asked = stop.decide(cell, done, batch.open, running.started_ns, batch.at_ns, asked_ns)
                if asked.kind != "go":
                    decision = asked
                    running.finish(asked.end_ns or batch.at_ns)
    assert decision is not None
    assert decision.end_ns is not None
    done = records.concat(parts)
    placed = window.place(cell, done, decision.end_ns)
    done = window.with_phases(done, placed)
    found = point.measure(cell, done, placed, slos, None, source.probe(), "", decision.reason)
    assert found.busy_s is not None
    return Ran(found, found.busy_s)


def lasting(cell: Cell, source: virtual.Source, seconds: float) -> Ran:
    """The same cell with a window of so many seconds."""
    limits = msgspec.structs.replace(cell.limits, duration_s=seconds, gates=(), slos=(), cap_s=1e9)
    return measured(msgspec.structs.replace(cell, limits=limits), source)


def recipe(cell: Cell, source: virtual.Source) -> tuple[dict[str, float], float]:
    """The figures of 10·C requests after 2·C, from a cold start, and the endpoint time."""
    cold = msgspec.structs.replace(cell, start="cold")
    slots = round(cell.load.level)
    running = source.measure(cold)
    done = records.EMPTY
    parts, ended = [], 0
    for batch in running:
        parts.append(batch.done)
        ended += len(batch.done)
        if ended >= (WARM + COUNTED) * slots:
            running.abort()
    done = records.concat(parts)
    done = done.where((done["outcome"] == Outcome.OK.value) & (done["request"] < (WARM + COUNTED) * slots))
    counted = done.where(done["request"] >= WARM * slots)
    took_s = float(counted["end_ns"].max() - counted["sent_ns"].min()) / 1e9
    tpot_s = (counted["last_ns"] - counted["first_ns"]) / np.maximum(counted["osl"] - 1, 1) / 1e9
    figures = {
        "throughput": float(counted["osl"].sum()) / took_s,
        "TPOT p50": float(np.median(tpot_s)),
        "TTFT p50": float(np.median(counted["first_ns"] - counted["sent_ns"])) / 1e9,
    }
    return figures, float(done["end_ns"].max() - done["sent_ns"].min()) / 1e9


def errors(figures: dict[str, float], truth: dict[str, float]) -> dict[str, float]:
    return {key: value / truth[key] - 1 for key, value in figures.items()}


def compared(preset: str, name: str, level: float) -> tuple[Ran, dict[str, float], dict[str, float], float, bool]:
    """(our cell, our errors, the recipe's errors, its endpoint time, whether the endpoint queued)."""
    plan = scenario.make_plan(profile.load_profile(name), slos=(), seed=1, grid=(level,), start="equilibrium")
    source = virtual.Source(preset)
    cell = cell_of(plan, source, level)
    ours = measured(cell, source)
    e2e_s = ours.point.metrics["e2e_s"]["mean"].value or 1.0
    truth = lasting(cell, source, VARIED.get(name, TRUTH_E2E) * e2e_s)
    theirs, theirs_s = recipe(cell, source)
    return ours, errors(ours.figures, truth.figures), errors(theirs, truth.figures), theirs_s, full(plan, preset, level)


def full(plan: Plan, preset: str, level: float) -> bool:
    """Whether so many requests, half answered on average, fill the KV memory or the batch: then some wait or are preempted."""
    options = Options(preset=preset)
    tokens = level * (expected(plan.profile.isl) + expected(plan.profile.osl) / 2)
    memory = virtual.new_cluster(options).engines[0].max_tokens
    return tokens > FULL_AT * memory or level > options.settings.max_sequences


def table(cells: dict[str, tuple[float, ...]], tell: Callable[[], float]) -> Iterator[str]:
    yield "errors against a long run (goals: throughput 0.5 %, TPOT p50 1 %, TTFT p50 3 % where the endpoint does not queue)"
    head = "".join(f"{key:>12}" for key in ("throughput", "TPOT p50", "TTFT p50"))
    yield f"  {'preset':<20}{'profile':<11}{'C':>4}{head}{'s':>7}{'of recipe':>11}    the recipe's own errors"
    for preset in PRESETS:
        for name, levels in cells.items():
            for level in levels:
                ours, wrong, theirs, theirs_s, queued = compared(preset, name, level)
                row = "".join(f"{wrong[key]:>12.2%}" for key in wrong)
                own = "".join(f"{theirs[key]:>12.2%}" for key in theirs)
                mark = " full" if queued else ""
                yield (
                    f"  {preset:<20}{name:<11}{level:>4g}{row}{ours.spent_s:>7.0f}{ours.spent_s / theirs_s:>11.2f}{own}{mark}"
                )
    yield f"{tell():.0f} s"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.bias", description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--profiles", help="these only, separated by commas")
    parser.add_argument("--levels", help="these only, separated by commas")
    asked = parser.parse_args(arguments)
    cells: dict[str, tuple[float, ...]] = FULL if asked.full else SHORT
    if asked.profiles:
        cells = dict.fromkeys(asked.profiles.split(","), LEVELS)
    if asked.levels:
        cells = dict.fromkeys(cells, tuple(float(level) for level in asked.levels.split(",")))
    began = time.perf_counter()
    for line in table(cells, lambda: time.perf_counter() - began):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
