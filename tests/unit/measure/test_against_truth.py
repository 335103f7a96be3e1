"""Cells of the simulator in virtual time against long runs: a few of what `bench.bias` and `bench.spending` run at length."""

from __future__ import annotations

import numpy as np
import pytest

from bench.cells import FIGURES, Ran, cell_of, errors, long_run, measured, plan_of, recipe
from sweep.plan.profile import load_profile
from sweep.sim.virtual import Source

GOALS = {"throughput": 0.005, "TPOT p50": 0.01, "TTFT p50": 0.03}
SMALL, LARGE = Source("synthetic-8b-bf16"), Source("synthetic-70b-fp8")


def ran(source: Source, profile: str, level: float, seed: int = 1) -> Ran:
    return measured(cell_of(plan_of(load_profile(profile), level, seed), source, level), source)


def codes(one: Ran) -> set[str]:
    return {finding.code for finding in one.point.findings}


@pytest.mark.parametrize("level", [4.0, 16.0])
def test_equal_lengths_are_measured_within_the_goals_for_a_third_of_the_recipe(level):
    one = ran(SMALL, "1k-1k", level)
    cell = cell_of(plan_of(load_profile("1k-1k"), level, 0), SMALL, level)
    truth = long_run(cell, SMALL, 120.0).figures
    theirs, theirs_s = recipe(cell, SMALL)
    wrong = errors(one.figures, truth)
    assert all(abs(wrong[name]) <= GOALS[name] for name in FIGURES)
    assert abs(errors(theirs, truth)["TTFT p50"]) > 1.5
    assert one.spent_s < 0.36 * theirs_s
    assert not codes(one) & {"full", "preempting", "queued-start", "drifting", "history-dependent"}


def test_answers_of_every_length_are_measured_without_bias_and_their_intervals_hold():
    level = 16.0
    truth = long_run(cell_of(plan_of(load_profile("chat"), level, 0), SMALL, level), SMALL, 500.0).figures
    runs = [ran(SMALL, "chat", level, seed) for seed in range(1, 9)]
    wrong = {name: np.mean([errors(one.figures, truth)[name] for one in runs]) for name in FIGURES}
    assert abs(wrong["throughput"]) < 0.03
    assert abs(wrong["TPOT p50"]) < 0.03
    assert abs(wrong["TTFT p50"]) < 0.06
    assert np.mean([one.holds(truth) for one in runs]) >= 0.85


@pytest.mark.parametrize("seed", [1, 2])
def test_a_short_prompt_waits_behind_long_ones_at_an_endpoint_that_is_not_full(seed):
    assert not codes(ran(SMALL, "chat", 64.0, seed)) & {"full", "preempting", "queued-start"}


def test_an_endpoint_that_lets_requests_wait_is_full():
    one = ran(LARGE, "8k-1k", 64.0)
    assert {"full", "queued-start"} <= codes(one)
    assert not one.point.disqualified


def test_an_endpoint_that_preempts_is_disqualified():
    one = ran(LARGE, "1k-8k", 64.0)
    assert "preempting" in codes(one)
    assert one.point.disqualified
