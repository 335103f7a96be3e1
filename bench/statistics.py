"""What the statistics are worth, on processes whose truth is known: `python -m bench.statistics [--runs N]`.

Coverage of nominal 95 % intervals on M/M/1 waiting-plus-service times and on AR(1), from batches of 100 seeded runs; false
alarms of the drift test on a stationary process, and its power; false alarms of the overload verdict; and coverage on the
simulator in virtual time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from bench import bias
from sweep import records
from sweep.measure import histogram, quantile, steadiness
from sweep.measure.overload import EARLY_S, LOOKS, overloaded
from sweep.model import Estimate
from sweep.plan import profile, scenario
from sweep.sim import virtual

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

N = 5_000
S = 1_000_000_000


def mm1(rho: float) -> Draw:
    """Sojourn times in a stationary M/M/1 queue with unit service; the first customer finds the stationary workload."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        gaps, service = rng.exponential(1 / rho, n), rng.exponential(1.0, n)
        start = rng.exponential(1 / (1 - rho)) if rng.random() < rho else 0.0
        steps = np.concatenate([[start], service[:-1] - gaps[1:]])
        walk = np.cumsum(steps)
        return walk - np.minimum(np.minimum.accumulate(walk), 0.0) + service

    return draw


def mm1_quantile(rho: float, q: float) -> float:
    return float(-np.log(1 - q) / (1 - rho))


def ar1(phi: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Floats:
        noise = rng.standard_normal(n)
        noise[0] /= np.sqrt(1 - phi**2)
        return np.asarray(lfilter([1.0], [1.0, -phi], noise), np.float64)

    return draw


def ar1_quantile(phi: float, q: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(q) / np.sqrt(1 - phi**2))


PROCESSES: dict[str, tuple[Draw, Callable[[float], float]]] = {
    "M/M/1 0.5": (mm1(0.5), lambda q: mm1_quantile(0.5, q)),
    "M/M/1 0.8": (mm1(0.8), lambda q: mm1_quantile(0.8, q)),
    "AR(1) 0.9": (ar1(0.9), lambda q: ar1_quantile(0.9, q)),
}


def coverage(draw: Draw, truth: float, q: float, runs: int, n: int = N) -> tuple[float, float, float]:
    """(share of intervals that hold the truth, share unbounded, share for the interval that ignores correlation)."""
    held = unbounded = naive = 0
    for seed in range(runs):
        x = draw(np.random.default_rng(seed), n)
        found = quantile.quantile(x, q)
        assert found.low is not None
        held += found.low <= truth and (found.high is None or truth <= found.high)
        unbounded += found.high is None
        low, high = (quantile.rank(p, n) for p in quantile.proportion_limits(q, n))
        ordered = np.sort(x)
        naive += bool(ordered[low - 1] <= truth <= ordered[min(high, n - 1)])
    return held / runs, unbounded / runs, naive / runs


def rate_coverage(phi: float, runs: int, bins: int = 10, per_bin: int = 200) -> float:
    """Throughput intervals over time bins of an AR(1) rate with mean 10."""
    held = 0
    for seed in range(runs):
        x = 10 + ar1(phi)(np.random.default_rng(seed), bins * per_bin)
        found = quantile.rate(x.reshape(bins, per_bin).mean(axis=1), 1.0, len(x))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 10 <= found.high
    return held / runs


def simulator_coverage(runs: int, n: int = N, load: float = 0.8) -> tuple[float, float, float]:
    """(p99 TTFT, mean TTFT, throughput): how often the intervals of an open loop at 80 % of the simulator's capacity hold.

    Short requests in virtual time. Truth is what all runs say pooled; of throughput, what is offered.
    """
    plan = scenario.make_plan(profile.load_profile("128/32"), slos=(), seed=0, grid=(1.0,), duration_s=8.0, start="cold")
    source = virtual.Source("synthetic-8b-bf16")
    full = bias.measured(bias.cell_of(plan, source, 256.0), source).point.rates["req_per_s"].value
    assert full is not None
    rate = load * full
    seconds = n / rate
    found = []
    for seed in range(runs):
        open_plan = scenario.make_plan(plan.profile, slos=(), seed=seed, grid=(rate,), kind="poisson", duration_s=seconds)
        found.append(bias.measured(bias.cell_of(open_plan, source, rate), source).point)
    p99 = [point.metrics["ttft_s"]["p99"] for point in found]
    means = [point.metrics["ttft_s"]["mean"] for point in found]
    pooled = histogram.add([histogram.decode(point.histograms["ttft_s"]) for point in found])
    truth = (histogram.percentile_us(pooled, 0.99) or 0) / 1e6
    return (
        share_holding(p99, truth),
        share_holding(means, float(np.mean([one.value for one in means]))),
        share_holding([point.rates["output_tok_per_s"] for point in found], rate * 32),
    )


def share_holding(estimates: Sequence[Estimate], truth: float) -> float:
    held = [(one.low or 0.0) <= truth and (one.high is None or truth <= one.high) for one in estimates]
    return float(np.mean(held))


def drift_alarms(per_minute: float, phi: float, runs: int, seconds: float = 180.0) -> float:
    """How often a window of 3 min is called drifting: relative noise sd 2 % a second with memory φ between seconds."""
    alarms = 0
    for seed in range(runs):
        noise = ar1(phi)(np.random.default_rng(seed), int(seconds)) * np.sqrt(1 - phi**2)
        y = 1 + 0.02 * noise - per_minute * np.arange(int(seconds)) / 60
        bins = y.reshape(steadiness.BINS, -1).mean(axis=1)
        alarms += steadiness.drift_per_minute(bins, seconds) is not None
    return alarms / runs


def overload_alarms(rho: float, runs: int, slow: float = 0.0, n: int = 8_000, rate: float = 40.0) -> float:
    """How often a queue of one server (a stationary one, if ρ < 1) is called overloaded at some second of n arrivals.

    Exponential service times, times a slow log-normal pace of sd `slow` that remembers a hundred requests.
    """
    alarms = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        due = np.cumsum(rng.exponential(1 / rate, n))
        pace = np.exp(slow * ar1(0.99)(rng, n) * np.sqrt(1 - 0.99**2) - slow**2 / 2)
        service = rng.exponential(rho / rate, n) * pace
        walk = np.cumsum(service - np.diff(due, prepend=0.0))
        end = due + walk - np.minimum(np.minimum.accumulate(walk - service), 0.0)
        alarms += any(_overloaded_at(due, end, float(now)) for now in moments(due[-1]))
    return alarms / runs


def moments(until_s: float) -> list[float]:
    """When a verdict may change: as `overload.py` looks, a little after each."""
    count = int(np.log(max(1.0, until_s / EARLY_S)) / np.log(LOOKS)) + 1
    return [EARLY_S * LOOKS**k + 0.05 for k in range(count)]


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
    yield f"coverage of nominal 95 % intervals, {runs} runs of {N:,} requests (goal 0.90)"
    yield f"  {'process':<12}{'percentile':>12}{'held':>8}{'unbounded':>12}{'iid interval':>14}"
    for name, (draw, truth) in PROCESSES.items():
        for label, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            held, unbounded, naive = coverage(draw, truth(q), q, runs)
            yield f"  {name:<12}{label:>12}{held:>8.3f}{unbounded:>12.3f}{naive:>14.3f}"
    yield "throughput over ten time bins (goal 0.92)"
    for phi in (0.0, 0.9, 0.98):
        yield f"  AR(1) {phi:<6}{rate_coverage(phi, runs):>20.3f}"
    few = max(20, runs // 20)
    tail, middle, rate = simulator_coverage(few)
    yield f"{few} runs of {N:,} requests on the simulator at 80 % load (goals 0.90, and 0.92 for throughput)"
    yield f"  p99 TTFT {tail:.3f}, mean TTFT {middle:.3f}, throughput {rate:.3f}"
    yield "called drifting within 3 min (stationary: goal ≤ 0.02; −5 % a minute: goal ≥ 0.95)"
    for phi in (0.0, 0.5, 0.9):
        yield f"  memory {phi:<5}{drift_alarms(0.0, phi, runs):>20.3f}{drift_alarms(0.05, phi, runs):>8.3f}"
    few = max(20, runs // 5)
    yield f"called overloaded within 200 s, {few} runs (ρ < 1: goal ≤ 0.01)"
    yield f"  {'ρ':<12}{'M/M/1':>12}{'slow pace, sd 30 %':>22}"
    for rho in (0.8, 0.9, 0.95, 1.1, 1.5):
        yield f"  {rho:<12}{overload_alarms(rho, few):>12.3f}{overload_alarms(rho, few, 0.3):>22.3f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.statistics", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args(arguments).runs
    began = time.perf_counter()
    for line in table(runs):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"{time.perf_counter() - began:.1f} s\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
