"""Truncation, trend and halves against brute force and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sweep.measure.steady import halves, mser5, trend


def mser_by_hand(x) -> int:
    z = [float(np.mean(x[i : i + 5])) for i in range(0, len(x) - 4, 5)]
    n = len(z)
    scores = {k: sum((v - np.mean(z[k:])) ** 2 for v in z[k:]) / (n - k) ** 2 for k in range(n) if k < n / 2}
    return 5 * min(scores, key=lambda k: (scores[k], k))


@pytest.mark.parametrize("seed", range(8))
def test_mser_is_the_textbooks(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=233) + 5 * np.exp(-np.arange(233) / 20) * (seed % 2) + 1e6
    assert mser5(x) == mser_by_hand(x)


def test_mser_cuts_a_transient_and_nothing_else():
    x = np.concatenate([np.full(50, 9.0), np.random.default_rng(0).normal(1.0, 0.1, 200)])
    assert 50 <= mser5(x) <= 60
    assert mser5(x[:4]) == 0


def test_the_slope_is_sens_and_the_p_value_kendalls():
    rng = np.random.default_rng(2)
    y = rng.normal(size=30)
    found = trend(y)
    assert found.slope == pytest.approx(stats.theilslopes(y).slope)
    n, s = 30, sum(np.sign(y[j] - y[i]) for i in range(30) for j in range(i + 1, 30))
    z = (abs(s) - 1) / np.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    assert found.p >= 2 * stats.norm.sf(z) - 1e-12  # equal, or wider for autocorrelation


def test_a_clear_trend_is_seen_and_autocorrelation_alone_is_not_sharper():
    rng = np.random.default_rng(3)
    assert trend(np.arange(20.0) + rng.normal(size=20)).p < 1e-4
    assert trend(np.full(20, 3.0)).p == 1.0


def test_halves_are_welchs():
    rng = np.random.default_rng(4)
    y = np.concatenate([rng.normal(10, 1, 10), rng.normal(12, 3, 10)])
    found = halves(y)
    assert found.p == pytest.approx(stats.ttest_ind(y[:10], y[10:], equal_var=False).pvalue)
    assert found.change == pytest.approx(y[10:].mean() / y[:10].mean() - 1)
