"""Arrivals: exact under any split over workers and calls, and statistically what they say they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from sweep.model import Load
from sweep.plan.arrival import offsets_ns, stagger_s

SEEDS = st.integers(-(2**63), 2**63 - 1)
LOADS = st.builds(
    Load,
    kind=st.sampled_from(["poisson", "constant", "gamma"]),
    level=st.floats(0.01, 10_000),
    shape=st.sampled_from([0.25, 0.7, 1.0, 4.0]),
)


@given(LOADS, SEEDS, st.integers(0, 12_000), st.integers(0, 400), st.integers(0, 400))
@example(Load(kind="poisson", level=3.0), 1, 4095, 1, 1)
def test_any_stretch_is_a_slice_of_the_whole(load: Load, seed: int, first: int, count: int, more: int) -> None:
    whole = offsets_ns(load, seed, first, count + more)
    parts = [offsets_ns(load, seed, first, count), offsets_ns(load, seed, first + count, more)]
    assert np.array_equal(np.concatenate(parts), whole)


@given(LOADS, SEEDS, st.integers(1, 9))
def test_workers_together_send_the_unsplit_process(load: Load, seed: int, workers: int) -> None:
    whole = offsets_ns(load, seed, 0, 300)
    shards = [offsets_ns(load, seed, 0, 300)[worker::workers] for worker in range(workers)]
    assert np.array_equal(np.sort(np.concatenate(shards), kind="stable"), whole)


@given(LOADS, SEEDS)
def test_time_never_runs_backwards(load: Load, seed: int) -> None:
    offsets = offsets_ns(load, seed, 0, 500)
    assert offsets.dtype == np.int64
    assert offsets[0] >= 0
    assert (np.diff(offsets) >= 0).all()


@given(st.floats(0.01, 10_000), st.integers(0, 10**6))
def test_constant_arrivals_are_exact(level: float, first: int) -> None:
    offsets = offsets_ns(Load(kind="constant", level=level), 0, first, 3)
    assert np.abs(offsets - np.arange(first, first + 3) / level * 1e9).max() <= 1


def test_poisson_counts_have_equal_mean_and_variance() -> None:
    """20,000 windows of mean 5: mean within 4 standard errors, index of dispersion likewise, gaps exponential."""
    offsets = offsets_ns(Load(kind="poisson", level=50.0), 11, 0, 100_000)
    windows = int(offsets[-1] // 100_000_000)
    counts = np.bincount(offsets // 100_000_000, minlength=windows)[:windows]
    assert counts.mean() == pytest.approx(5, abs=4 * (5 / windows) ** 0.5)
    assert counts.var() / counts.mean() == pytest.approx(1, abs=4 * (2 / windows) ** 0.5)
    assert stats.kstest(np.diff(offsets) / 1e9 * 50, "expon").pvalue > 1e-3
    assert abs(np.corrcoef(counts[:-1], counts[1:])[0, 1]) < 4 / windows**0.5


@pytest.mark.parametrize("shape", [0.25, 1.0, 4.0])
def test_gamma_gaps_follow_their_distribution(shape: float) -> None:
    offsets = offsets_ns(Load(kind="gamma", level=20.0, shape=shape), 5, 0, 40_000)
    gaps_s = np.diff(offsets) / 1e9
    assert stats.kstest(gaps_s, stats.gamma(shape, scale=1 / (20 * shape)).cdf).pvalue > 1e-3


def test_other_seeds_are_other_processes() -> None:
    load = Load(kind="poisson", level=1.0)
    one, two = np.diff(offsets_ns(load, 1, 0, 5000)), np.diff(offsets_ns(load, 2, 0, 5000))
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.06


def test_the_rate_only_stretches_time() -> None:
    slow, fast = (offsets_ns(Load(kind="poisson", level=level), 3, 0, 1000) for level in (1.0, 10.0))
    assert np.allclose(slow, fast * 10, rtol=1e-6, atol=10_000)


@given(st.integers(1, 2000), st.floats(0, 100))
def test_slots_start_evenly_within_the_spread(slots: int, spread_s: float) -> None:
    starts = stagger_s(slots, spread_s)
    assert starts.shape == (slots,)
    assert starts[0] == 0
    assert starts[-1] <= spread_s
    assert np.allclose(np.diff(starts), spread_s / slots)


@pytest.mark.parametrize("load", [Load(kind="closed", level=4.0), Load(kind="gamma", level=4.0)])
def test_a_load_without_schedule_is_refused(load: Load) -> None:
    with pytest.raises(ValueError):
        offsets_ns(load, 0, 0, 1)
