"""Intervals hold what they promise and tests stay quiet, on a few seeds of the processes that `bench.statistics` runs at length."""

from __future__ import annotations

import numpy as np
import pytest

from bench import statistics as bench


@pytest.mark.parametrize("process", bench.PROCESSES)
@pytest.mark.parametrize("q", [0.5, 0.99])
def test_quantile_intervals_hold(process, q):
    draw, truth = bench.PROCESSES[process]
    held, _, naive = bench.coverage(draw, truth(q), q, runs=100)
    assert held >= 0.85
    assert naive < 0.8  # what ignoring the queue's memory would give


def test_throughput_intervals_hold():
    assert bench.rate_coverage(0.9, runs=200) >= 0.9


def test_a_steady_endpoint_is_not_drifting_and_a_slowing_one_is():
    assert bench.drift_alarms(0.0, 0.5, runs=200) <= 0.02
    assert bench.drift_alarms(0.05, 0.5, runs=200) >= 0.95


def test_the_processes_have_the_distributions_they_claim():
    rng = np.random.default_rng(11)
    for draw, truth in bench.PROCESSES.values():
        x = np.concatenate([draw(rng, 200_000) for _ in range(4)])
        for q in (0.5, 0.9):
            assert np.mean(x <= truth(q)) == pytest.approx(q, abs=0.02)
