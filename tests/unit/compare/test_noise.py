"""Draws of what a measured value may be: from intervals, from repeats, and for paired curves."""

from __future__ import annotations

import comparable
import numpy as np
import pytest
from curve_builder import estimate, point
from scipy import stats

from sweep.curve.compare import noise

DRAWS = 40_000


def random(name: str = "a", shared: str | None = None) -> noise.Random:
    return noise.Random(0, name, shared or name, DRAWS)


def test_one_run_is_drawn_from_its_own_interval() -> None:
    found = noise.source(random(), "x", [point(4)], [estimate(100.0, 0.1)])
    assert found is not None
    low, high = np.quantile(100 * np.exp(found.ln), [0.025, 0.975])
    assert (low, high) == (pytest.approx(90, rel=0.01), pytest.approx(110, rel=0.01))


def test_a_value_without_an_interval_has_unknown_noise() -> None:
    assert noise.source(random(), "x", [point(4)], [estimate(100.0)]) is None
    assert noise.source(random(), "x", [point(4)], [estimate(None)]) is None


def test_three_runs_are_drawn_with_the_variance_of_their_mean() -> None:
    points = [point(4, repeat=run) for run in range(3)]
    values = [98.0, 100.0, 103.0]
    found = noise.source(random(), "x", points, [estimate(value, 0.5) for value in values])
    assert found is not None
    assert found.ln.std() == pytest.approx(np.log(values).std(ddof=1) / np.sqrt(3), rel=0.02)
    assert found.df == 2


@pytest.mark.parametrize(("runs", "sds"), [((3, 3), (0.02, 0.02)), ((3, 8), (0.05, 0.01)), ((5, 4), (0.01, 0.03))])
def test_a_difference_of_means_has_welchs_p_value(runs: tuple[int, int], sds: tuple[float, float]) -> None:
    """Against scipy.stats.ttest_ind(equal_var=False), at several distances."""
    draw = np.random.default_rng(3)
    samples = [sd * draw.standard_normal(n) for n, sd in zip(runs, sds, strict=True)]
    sources = []
    for name, sample in zip("ab", samples, strict=True):
        points = [point(4, repeat=run) for run in range(len(sample))]
        found = noise.source(random(name), "x", points, [estimate(float(np.exp(value)), 0.1) for value in sample])
        assert found is not None
        sources.append(found)
    for shift in (0.0, 0.02, 0.06):
        difference = samples[0].mean() + shift - samples[1].mean()
        drawn = noise.welch(difference, difference + sources[0].ln - sources[1].ln, sources)
        p = 2 * min((drawn <= 0).mean(), (drawn >= 0).mean())
        oracle = stats.ttest_ind(samples[0] + shift, samples[1], equal_var=False).pvalue
        assert p == pytest.approx(oracle, abs=0.015)


def test_paired_curves_share_what_moved_both() -> None:
    points = [point(4, repeat=run) for run in range(3)]
    night = np.array([0.9, 1.0, 1.15])
    found = [
        noise.source(random(name, "pair"), "x", points, [estimate(base * float(factor), 0.1) for factor in night])
        for name, base in (("a", 100.0), ("b", 70.0))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert np.abs(found[0].ln - found[1].ln).max() < 1e-12
    alone = noise.source(random("b"), "x", points, [estimate(70.0 * float(factor), 0.1) for factor in night])
    assert alone is not None
    assert (found[0].ln - alone.ln).std() > 0.05


def test_intervals_of_paired_curves_stay_independent() -> None:
    one, other = (noise.source(random(name, "pair"), "x", [point(4)], [estimate(100.0, 0.1)]) for name in "ab")
    assert one is not None
    assert other is not None
    assert abs(np.corrcoef(one.ln, other.ln)[0, 1]) < 0.03


def test_the_files_say_whether_they_are_paired() -> None:
    assert noise.pairing(comparable.side("a")) is None
    assert noise.pairing(comparable.side("a", pair="x1")) == "x1"
