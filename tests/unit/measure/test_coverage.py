"""Intervals hold what they promise and tests stay quiet, on a few seeds of what `bench.statistics` and `bench.alarms` run at length."""

from __future__ import annotations

import numpy as np
import pytest

from bench import alarms, processes, statistics
from sweep.measure import quantile


@pytest.mark.parametrize("process", processes.PROCESSES)
@pytest.mark.parametrize("q", [0.5, 0.99])
def test_quantile_intervals_hold(process, q):
    draw, truth = processes.PROCESSES[process]
    held, _, naive = statistics.coverage(draw, truth(q), q, runs=100)
    assert held >= 0.85
    assert naive < 0.8  # what ignoring the queue's memory would give


def test_throughput_intervals_hold():
    assert statistics.rate_coverage(0.9, runs=200) >= 0.9


def test_a_steady_endpoint_is_not_drifting_and_a_slowing_one_is():
    assert alarms.drift_alarms(0.0, 0.5, runs=200) <= 0.02
    assert alarms.drift_alarms(0.05, 0.5, runs=200) >= 0.95


def test_batches_that_remember_each_other_say_less():
    rng = np.random.default_rng(5)
    alone = np.mean([quantile.memory(rng.normal(size=10)) for _ in range(500)])
    tied = np.mean([quantile.memory(processes.ar1(0.7)(rng, 10)) for _ in range(500)])
    assert 1.0 <= alone < 1.7 < 2.0 < tied <= 4.0
    assert quantile.memory(np.ones(10)) == 1.0


def test_a_queue_below_its_capacity_is_never_overloaded_and_one_far_above_always():
    assert alarms.overload_alarms(0.9, runs=20)[0] == 0.0
    assert alarms.overload_alarms(1.5, runs=20, n=alarms.EARLIEST)[0] == 1.0
    assert alarms.overload_alarms(1.1, runs=20)[0] >= 0.75


def test_the_processes_have_the_distributions_they_claim():
    rng = np.random.default_rng(11)
    for draw, truth in processes.PROCESSES.values():
        x = np.concatenate([draw(rng, 200_000) for _ in range(4)])
        for q in (0.5, 0.9):
            assert np.mean(x <= truth(q)) == pytest.approx(q, abs=0.02)
