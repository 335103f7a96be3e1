"""How often a steady endpoint is called unsteady, and an unsteady one is found: `python -m bench.alarms [--runs N]`.

The drift test on a stationary rate with memory and on one that slows; the verdict "offered > capacity" on a queue below and
above its capacity, beside the best that any test could do and what the drift test finds of the rest.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from bench.lines import show
from bench.processes import Floats, ar1, queue
from sweep import records
from sweep.measure import steadiness
from sweep.measure.overload import EARLY, LOOKS, PATIENT, overloaded

S = 1_000_000_000
RATE = 40.0
ARRIVALS = 8_000
EARLIEST = 2_500  # the first look at 1.1 times the capacity lies in them: 60 s
FALSE = 0.01
NEARLY = 0.95  # of the capacity: the hardest load that must raise no alarm


def drift_alarms(per_minute: float, phi: float, runs: int, seconds: float = 180.0) -> float:
    """How often a window of 3 min is called drifting: relative noise sd 2 % a second with memory φ between seconds."""
    alarms = 0
    for seed in range(runs):
        noise = ar1(phi)(np.random.default_rng(seed), int(seconds)) * np.sqrt(1 - phi**2)
        y = 1 + 0.02 * noise - per_minute * np.arange(int(seconds)) / 60
        bins = y.reshape(steadiness.BINS, -1).mean(axis=1)
        alarms += steadiness.drift_per_minute(bins, seconds) is not None
    return alarms / runs


def overload_alarms(rho: float, runs: int, slow: float = 0.0, n: int = ARRIVALS) -> tuple[float, float]:
    """(called overloaded at some moment of n arrivals, or at the end drifting by its TTFT), each as a share of the runs."""
    called = either = 0
    for seed in range(runs):
        due, end = queue(np.random.default_rng(seed), rho, n, RATE, slow)
        verdict = any(_overloaded_at(due, end, now) for now in moments(due))
        called += verdict
        either += verdict or _drifts(due, end)
    return called / runs, either / runs


def best_power(rho: float, runs: int, slow: float, n: int) -> float:
    """How often ρ would be found after n arrivals by a test that knows the process: the backlog is above what it is in one of a
    hundred runs at 95 % of the capacity."""
    limit = float(np.quantile([_backlog(NEARLY, seed, slow, n) for seed in range(runs)], 1 - FALSE))
    return float(np.mean([_backlog(rho, runs + seed, slow, n) > limit for seed in range(runs)]))


def moments(due: Floats) -> list[float]:
    """When a verdict may change: as `overload.py` looks while it does so early and later, a little after each."""
    found = []
    for patience in (EARLY, PATIENT):
        first_s = max(patience.seconds, float(due[patience.arrivals - 1] - due[0]))
        count = int(np.log(max(1.0, float(due[-1]) / first_s)) / np.log(LOOKS)) + 1
        found += [float(due[0]) + first_s * LOOKS**k + 0.01 for k in range(count)]
    return sorted(found)


def _backlog(rho: float, seed: int, slow: float, n: int) -> int:
    due, end = queue(np.random.default_rng(seed), rho, n, RATE, slow)
    return int((end > due[-1]).sum())


def _drifts(due: Floats, end: Floats) -> bool:
    """Whether the time in the queue drifts over all that was answered, as TTFT does in the window of a cell."""
    come = due[end <= due[-1]]
    if len(come) < steadiness.BINS:
        return False
    seconds = float(come[-1] - come[0])
    place = np.minimum(((come - come[0]) / seconds * steadiness.BINS).astype(np.int64), steadiness.BINS - 1)
    count = np.bincount(place, minlength=steadiness.BINS)
    if (count == 0).any():
        return False
    mean = np.bincount(place, weights=(end - due)[: len(come)], minlength=steadiness.BINS) / count
    return steadiness.drift_per_minute(mean, seconds, steadiness.QUEUE_P) is not None


def _overloaded_at(due: Floats, end: Floats, now: float) -> bool:
    come, gone = due <= now, end <= now
    null = records.null_of("end_ns")
    columns = {
        "planned_ns": (due[come] * S).astype(np.int64),
        "end_ns": np.where(gone[come], end[come] * S, null).astype(np.int64),
    }
    empty = np.empty(0, np.int64)
    e2e = float(np.median((end - due)[gone])) if gone.any() else None
    start = np.zeros(int(come.sum()) + 1, np.int64)
    return overloaded(records.Records(dict(columns), start, empty, empty), e2e, round(now * S))


def table(runs: int) -> Iterator[str]:
    yield f"called drifting within 3 min, {runs} runs (stationary: goal ≤ 0.02; −5 % a minute: goal ≥ 0.95)"
    for phi in (0.0, 0.5, 0.9):
        yield f"  memory {phi:<5}{drift_alarms(0.0, phi, runs):>20.3f}{drift_alarms(0.05, phi, runs):>8.3f}"
    few = max(20, runs // 2)
    yield f"called overloaded, {few} runs of {ARRIVALS:,} arrivals in {ARRIVALS / RATE:.0f} s (ρ < 1: goal ≤ {FALSE})"
    yield f"  {'':<6}{'in':>20}{'or called':>12}{'best possible after':>28}"
    yield f"  {'ρ':<6}{f'{EARLIEST:,} arrivals':>16}{'all':>8}{'drifting':>12}{f'{EARLIEST:,}':>14}{f'{ARRIVALS:,}':>10}"
    for slow in (0.0, 0.1, 0.3):
        yield f"  pace wanders by {slow:.0%}" if slow else "  M/M/1"
        for rho in (0.8, 0.9, 0.95, 1.1, 1.5):
            early, (late, either) = overload_alarms(rho, few, slow, EARLIEST)[0], overload_alarms(rho, few, slow)
            best = "".join(f"{best_power(rho, few, slow, n):>12.3f}" for n in (EARLIEST, ARRIVALS)) if rho > 1 else ""
            yield f"  {rho:<6}{early:>16.3f}{late:>8.3f}{either:>12.3f}  {best}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.alarms", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args(arguments).runs
    show(table(runs))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
