"""Percentiles and intervals against numpy, scipy.stats and loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from sweep.measure import quantile


@pytest.mark.parametrize("n", [1, 2, 7, 10, 99, 1000, 1001])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
def test_the_percentile_is_the_inverted_cdf(n, q):
    x = np.random.default_rng(n).normal(size=n)
    assert quantile.quantile(x, q).value == np.quantile(x, q, method="inverted_cdf")


@pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 20), (19, 20), (20, 20), (940, 1000)])
def test_limits_of_independent_trials_are_clopper_and_pearsons(k, n):
    exact = stats.binomtest(k, n).proportion_ci(0.95, "exact")
    assert quantile.proportion_limits(k / n, n) == pytest.approx((exact.low, exact.high), abs=1e-12)


def by_hand(x, p):
    """The interval, step by step as it is written down."""
    n, ordered = len(x), sorted(x)
    q = ordered[int(np.ceil(round(n * p, 9))) - 1]
    inside = [1.0 if v <= q else 0.0 for v in x]
    m = n // 10
    means = [sum(inside[i * m : (i + 1) * m]) / m for i in range(10)]
    middle = sum(means) / 10
    squares = sum((mean - middle) ** 2 for mean in means)
    neighbours = sum((a - middle) * (b - middle) for a, b in pairwise(means))
    phi = min(max((10 * neighbours / squares + 1) / 6, 0.0), 0.6) if squares else 0.0
    memory = (1 + phi) / (1 - phi)
    d = 1.0 if n < 20 or sum(inside) in (0, n) else max(1.0, memory * m * stats.tvar(means) / (p * (1 - p)))
    d *= (stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975)) ** 2
    n_eff = n / d
    low = stats.beta.ppf(0.025, p * n_eff, n_eff - p * n_eff + 1)
    high = stats.beta.ppf(0.975, p * n_eff + 1, n_eff - p * n_eff)
    place = int(np.floor(high * n)) + 1
    bounded = p**n_eff <= 0.025 and place <= n
    return ordered[int(np.ceil(low * n)) - 1], ordered[place - 1] if bounded else None, n_eff


@pytest.mark.parametrize("n", [30, 300, 5000])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_the_interval_is_woodruffs(n, p, memory):
    rng = np.random.default_rng(7)
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = memory * x[i - 1] + rng.normal()
    found = quantile.quantile(x, p)
    low, high, n_eff = by_hand(x, p)
    assert (found.low, found.high) == (low, high)
    assert found.n_eff == pytest.approx(n_eff)


def test_memory_widens():
    rng = np.random.default_rng(1)
    free = rng.normal(size=2000)
    slow = np.repeat(rng.normal(size=20), 100) + 0.01 * free
    assert quantile.quantile(slow, 0.5).n_eff < 0.1 * quantile.quantile(free, 0.5).n_eff


def test_an_interval_without_an_upper_end_says_so():
    found = quantile.quantile(np.arange(50.0), 0.99)
    assert found.few
    assert found.high is None
    assert found.low is not None


@pytest.mark.parametrize(
    ("q", "n", "few"), [(0.5, 5, True), (0.5, 6, False), (0.9, 99, True), (0.9, 100, False), (0.99, 1000, False)]
)
def test_few(q, n, few):
    assert quantile.quantile(np.arange(float(n)), q).few is few


def test_nothing_is_null_not_zero():
    empty = np.empty(0)
    assert {one.value for one in quantile.summary(empty).values()} == {None}
    assert quantile.share(empty.astype(bool)).value is None


def test_a_share_has_the_limits_of_its_effective_number():
    inside = np.tile([True, True, True, False], 50)
    found = quantile.share(inside)
    assert found.value == 0.75
    assert (found.low, found.high) == quantile.proportion_limits(0.75, found.n_eff)
    sure = quantile.share(np.ones(100, bool))
    assert sure.high == 1.0
    assert 0.94 < sure.low < 0.97


def test_mean_and_rate_are_students():
    x = np.random.default_rng(3).normal(5, 1, 1000)
    batches = x.reshape(10, 100).mean(axis=1)
    low, high = stats.t.interval(0.95, 9, batches.mean(), stats.sem(batches))
    found = quantile.mean(x)
    assert (found.low, found.high) == pytest.approx((low, high))
    rate = quantile.rate(batches * 2, 2.0, 1000)
    assert (rate.value, rate.low, rate.high) == pytest.approx((batches.mean(), low, high))


@pytest.mark.parametrize(("q", "floor"), [(0.9, 64), (0.95, 130), (0.99, 662), (0.999, 6636)])
def test_loadgens_floors(q, floor):
    assert quantile.loadgen_estimate(np.arange(float(floor - 1)), q) is None
    assert quantile.loadgen_estimate(np.arange(float(floor)), q) == floor - 1


def test_loadgens_estimate_by_search():
    n, p = 2000, 0.95
    t = max(t for t in range(n) if stats.binom.cdf(t, n, 1 - p) < 0.01)
    assert quantile.loadgen_estimate(np.random.default_rng(0).permutation(n).astype(float), p) == n - t
