"""What intervals are worth: `python -m bench.statistics [--full]`.

Coverage of nominal 95 % intervals on M/M/1 waiting-plus-service times and on AR(1) by seeded runs of 5,000 requests, and on the
simulator in virtual time, where the truth is one run as long as two hundred (by default: forty).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from bench.cells import cell_of, lasting, measured
from bench.lines import show
from bench.processes import PROCESSES, Draw, ar1
from sweep.measure import quantile
from sweep.model import Estimate, Outcome, Phase
from sweep.plan import profile, scenario
from sweep.sim import virtual

N = 5_000
PRESET, LENGTHS = "synthetic-8b-bf16", "128/32"
FULL = 512.0  # requests in flight that fill the simulator's batch
RUNS, SIMULATED, SIMULATED_FULL = 1000, 40, 200


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


def simulator_coverage(runs: int, load: float = 0.8, n: int = N) -> Iterator[str]:
    """How often the intervals of an open loop at a share of the simulator's capacity hold: one row a figure.

    Short requests in virtual time. Truth is one run as long as all of them; of throughput, what is offered.
    """
    shape = profile.load_profile(LENGTHS)
    source = virtual.Source(PRESET)
    filled = scenario.make_plan(shape, slos=(), seed=0, grid=(FULL,), duration_s=8.0, start="equilibrium")
    capacity = measured(cell_of(filled, source, FULL), source).point.rates["req_per_s"].value
    assert capacity is not None
    rate = load * capacity
    plans = [
        scenario.make_plan(shape, slos=(), seed=seed, grid=(rate,), kind="poisson", duration_s=n / rate)
        for seed in range(runs + 1)
    ]
    found = [measured(cell_of(plan, source, rate), source).point for plan in plans[1:]]
    long = lasting(cell_of(plans[0], source, rate), source, runs * n / rate)
    long = long.where((long["phase"] == Phase.MEASURED.value) & (long["outcome"] == Outcome.OK.value))
    ttft_s = np.sort(long["first_ns"] - long["planned_ns"]) / 1e9
    yield f"  one run of {len(ttft_s):,} requests: TTFT p50 {1e3 * np.median(ttft_s):.1f} ms, p99 {1e3 * _at(ttft_s, 0.99):.1f} ms"
    for label, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        yield _row(f"TTFT {label}", [one.metrics["ttft_s"][label] for one in found], _at(ttft_s, q))
    yield _row("TTFT mean", [one.metrics["ttft_s"]["mean"] for one in found], float(ttft_s.mean()))
    yield _row("throughput", [one.rates["output_tok_per_s"] for one in found], rate * 32)


def _at(ordered: np.typing.NDArray[np.float64], q: float) -> float:
    return float(ordered[quantile.rank(q, len(ordered)) - 1])


def _row(what: str, estimates: Sequence[Estimate], truth: float) -> str:
    unbounded = float(np.mean([one.high is None for one in estimates]))
    bias = float(np.mean([one.value or 0.0 for one in estimates])) / truth - 1
    return f"  {what:<24}{share_holding(estimates, truth):>8.3f}{unbounded:>12.3f}{bias:>14.1%}"


def share_holding(estimates: Sequence[Estimate], truth: float) -> float:
    held = [(one.low or 0.0) <= truth and (one.high is None or truth <= one.high) for one in estimates]
    return float(np.mean(held))


def table(runs: int, simulated: int) -> Iterator[str]:
    yield f"coverage of nominal 95 % intervals, {runs} runs of {N:,} requests (goal 0.90)"
    yield f"  {'process':<12}{'percentile':>12}{'held':>8}{'unbounded':>12}{'iid interval':>14}"
    for name, (draw, truth) in PROCESSES.items():
        for label, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            held, unbounded, naive = coverage(draw, truth(q), q, runs)
            yield f"  {name:<12}{label:>12}{held:>8.3f}{unbounded:>12.3f}{naive:>14.3f}"
    yield f"throughput over ten time bins, {runs} runs (goal 0.92)"
    for phi in (0.0, 0.9, 0.98):
        yield f"  AR(1) {phi:<18}{rate_coverage(phi, runs):>8.3f}"
    yield f"{simulated} runs of {N:,} requests on the simulator at 80 % load (goals 0.90, and 0.92 for throughput)"
    yield f"  {'':<24}{'held':>8}{'unbounded':>12}{'mean error':>14}"
    yield from simulator_coverage(simulated)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.statistics", description=__doc__)
    parser.add_argument("--full", action="store_true", help=f"{SIMULATED_FULL} runs of the simulator")
    full = parser.parse_args(arguments).full
    show(table(RUNS, SIMULATED_FULL if full else SIMULATED))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
