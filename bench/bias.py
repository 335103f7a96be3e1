"""What a short window gets wrong: `python -m bench.bias [--levels 4,16,64]`.

Cells of the simulated endpoint in virtual time, ended by the stop rule, against 1,000 s of the same cell; and the endpoint
time they took, tail included, against the recipe "2·C warm-ups, then 10·C requests" (twelve mean E2E).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import msgspec

from sweep import records
from sweep.measure import point, stop, window
from sweep.model import Cell, Point
from sweep.plan import profile, scenario
from sweep.sim import virtual

TRUTH_S = 1000.0
PRESET = "synthetic-8b-bf16"
RECIPE_E2E = 12


def measured(cell: Cell, source: virtual.Source) -> tuple[Point, float]:
    """The cell's point and how long it kept the endpoint busy, in virtual seconds."""
    endpoint = source.probe()
    running = source.measure(cell, endpoint)
    done, decision, last_ns = records.EMPTY, None, running.started_ns
    for batch in running:
        done, asked_ns, last_ns = records.concat([done, batch.done]), last_ns, batch.at_ns
        if decision is None:
            asked = stop.decide(cell, done, batch.open, running.started_ns, batch.at_ns, asked_ns)
            if asked.kind != "go":
                decision = asked
                running.finish(asked.end_ns or batch.at_ns)
    assert decision is not None
    assert decision.end_ns is not None
    placed = window.place(cell, done, decision.end_ns)
    found = point.measure(cell, window.with_phases(done, placed), placed, (), None, endpoint, "", decision.reason)
    return found, (last_ns - running.started_ns) / 1e9


def errors(name: str, level: float) -> tuple[Point, float, dict[str, float]]:
    """A cell as the stop rule ends it, its endpoint time, and its relative errors against a long run."""
    plan = scenario.make_plan(profile.load_profile(name), slos=(), seed=1, grid=(level,), cap_s=2 * TRUTH_S, start="cold")
    source = virtual.Source(PRESET)
    cell = scenario.make_cell(plan, source.probe(), index=0, level=level, repeat=0, first_request=0)
    limits = msgspec.structs.replace(cell.limits, duration_s=None)
    short, spent_s = measured(msgspec.structs.replace(cell, limits=limits), source)
    limits = msgspec.structs.replace(cell.limits, duration_s=TRUTH_S)
    long, _ = measured(msgspec.structs.replace(cell, limits=limits), source)
    truth = _headline(long)
    return short, spent_s, {key: value / truth[key] - 1 for key, value in _headline(short).items()}


def _headline(of: Point) -> dict[str, float]:
    values = {
        "throughput": of.rates["output_tok_per_s"].value,
        "TPOT p50": of.metrics["tpot_s"]["p50"].value,
        "TTFT p50": of.metrics["ttft_s"]["p50"].value,
    }
    return {key: value for key, value in values.items() if value is not None}


def table(levels: list[float]) -> Iterator[str]:
    yield f"{PRESET}, cold start: error against {TRUTH_S:g} s, and endpoint time as a share of the usual recipe's"
    yield f"  {'profile':<12}{'C':>5}{'throughput':>12}{'TPOT p50':>10}{'TTFT p50':>10}{'seconds':>9}{'of recipe':>11}"
    for name in ("1k-1k", "1k-1k-ifx"):
        for level in levels:
            short, spent_s, wrong = errors(name, level)
            e2e_s = short.metrics["e2e_s"]["mean"].value or float("nan")
            row = "".join(
                f"{wrong[key]:>{width}.2%}" for key, width in (("throughput", 12), ("TPOT p50", 10), ("TTFT p50", 10))
            )
            yield f"  {name:<12}{level:>5g}{row}{spent_s:>9.0f}{spent_s / (RECIPE_E2E * e2e_s):>11.2f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.bias", description=__doc__)
    parser.add_argument("--levels", default="4,16,64,256")
    levels = [float(level) for level in parser.parse_args(arguments).levels.split(",")]
    for line in table(levels):
        sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
