"""Intervals, p-values and calls against textbooks, scipy and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sweep.curve.compare import judge

NORMAL = np.random.default_rng(0).standard_normal(200_000)


def test_holm_is_the_textbooks() -> None:
    """p = 0.01, 0.04, 0.03, 0.005: the example of Holm's method in R's p.adjust documentation and most textbooks."""
    assert judge.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert judge.holm([0.5, 0.9]) == [1.0, 1.0]
    assert judge.holm([]) == []


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.5, 2.5])
def test_p_of_a_difference_is_that_of_a_z_test(mean: float) -> None:
    assert judge.p_differs(mean + NORMAL) == pytest.approx(2 * stats.norm.sf(abs(mean)), abs=2e-3)


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.01), (0.01, 0.01), (0.02, 0.02), (0.05, 0.01)])
def test_p_of_equivalence_is_that_of_two_one_sided_tests(mean: float, sd: float) -> None:
    edge = np.log1p(0.03)
    tost = max(stats.norm.sf((edge - mean) / sd), stats.norm.sf((edge + mean) / sd))
    assert judge.p_equivalent(mean + sd * NORMAL, 0.03) == pytest.approx(tost, abs=2e-3)


def test_what_cannot_be_told_speaks_for_the_hypothesis() -> None:
    nothing = np.full(1000, np.nan)
    assert judge.p_differs(nothing) == judge.p_equivalent(nothing) == 1.0
    assert judge.interval(nothing) is None


def test_the_interval_holds_the_middle_and_may_end_at_infinity() -> None:
    low, high = judge.interval(NORMAL)  # type: ignore[misc]
    assert (low, high) == (pytest.approx(-1.96, abs=0.02), pytest.approx(1.96, abs=0.02))
    assert judge.interval(np.concatenate([np.full(50, -np.inf), np.zeros(950)])) == (-np.inf, 0.0)


@pytest.mark.parametrize(
    ("ln_ratio", "differs", "equivalent", "throughput", "cost"),
    [
        (0.3, 0.01, 1.0, "better", "worse"),
        (-0.3, 0.01, 1.0, "worse", "better"),
        (0.01, 0.5, 0.01, "equivalent", "equivalent"),
        (0.02, 0.01, 0.01, "equivalent", "equivalent"),
        (0.3, 0.2, 1.0, "inconclusive", "inconclusive"),
        (-np.inf, 0.001, 1.0, "worse", "better"),
    ],
)
def test_calls(ln_ratio: float, differs: float, equivalent: float, throughput: str, cost: str) -> None:
    assert judge.call(ln_ratio, differs, equivalent, more_is_better=True) == throughput
    assert judge.call(ln_ratio, differs, equivalent, more_is_better=False) == cost
