"""The two tests of a night, against formulas written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sweep.curve.nightly.series import against_the_others
from sweep.curve.nightly.tracks import curve_track, point_track, reference

NIGHTS = 20


@pytest.fixture
def y() -> np.ndarray:
    """21 nights × 1 metric × 5 loads of noise."""
    return np.random.default_rng(4).normal(0, 0.02, (NIGHTS + 1, 1, 5))


def test_the_curve_statistic_is_a_t_of_medians(y):
    base, tonight = y[:NIGHTS, 0], y[NIGHTS, 0]
    statistic = np.median(tonight - np.median(base, axis=0))
    others = [np.median(base[i] - np.median(np.delete(base, i, 0), axis=0)) for i in range(NIGHTS)]
    spread = np.std(others, ddof=1) / np.sqrt(1 + 1.57 / (NIGHTS - 1))
    t = statistic / (spread * np.sqrt(1 + 1.57 / NIGHTS))

    tested = curve_track(reference(y, range(NIGHTS), [range(NIGHTS)]), y[NIGHTS:])
    assert tested.effect[0] == pytest.approx(statistic)
    assert tested.p_worse[0] == pytest.approx(stats.t.sf(t, NIGHTS - 1))
    assert tested.p_worse[0] + tested.p_better[0] == pytest.approx(1)


def test_a_points_spread_is_shrunk_to_the_pooled_one(y):
    base, tonight = y[:NIGHTS, 0], y[NIGHTS, 0]
    own = base.var(axis=0, ddof=1)
    spread = np.sqrt((10 * own.mean() + 19 * own) / 29)
    z = (tonight - base.mean(axis=0)) / (spread * np.sqrt(1 + 1 / NIGHTS))

    tested = point_track(reference(y, range(NIGHTS), [range(NIGHTS)]), y[NIGHTS:])
    np.testing.assert_allclose(tested.p_worse[0], stats.t.sf(z, 29))


def test_noise_is_learned_over_several_levels():
    rng = np.random.default_rng(2)
    y = rng.normal(0, 0.01, (40, 1, 5))
    y[:20] += 1.0  # another level: its jump is no noise
    both = reference(y, range(20, 40), [range(20, 40), range(20)])
    assert both.curve_freedom == 38
    assert both.curve_spread[0] == pytest.approx(0.01 * np.sqrt(1.45 / 5), rel=0.4)


def test_identical_nights_have_a_spread_all_the_same():
    y = np.zeros((NIGHTS + 1, 1, 3))
    tested = curve_track(reference(y, range(NIGHTS), [range(NIGHTS)]), y[NIGHTS:] + 0.003)
    assert tested.effect[0] / tested.error[0] == pytest.approx(1 / np.sqrt(1 + 1.57 / NIGHTS))


def test_a_load_with_too_few_nights_is_not_judged(y):
    y[:14, 0, 2] = np.nan
    against = reference(y, range(NIGHTS), [range(NIGHTS)])
    assert against.judgeable(y[NIGHTS]) == 4
    assert np.isnan(point_track(against, y[NIGHTS:]).effect[0, 2])
    assert np.isfinite(curve_track(against, y[NIGHTS:]).effect[0])


def test_a_night_without_figures_is_neither_worse_nor_better(y):
    against = reference(y, range(NIGHTS), [range(NIGHTS)])
    tested = curve_track(against, np.full((1, 1, 5), np.nan))
    assert not tested.p_worse[0] < 1
    assert not tested.p_better[0] < 1


def test_several_nights_weigh_more_than_one(y):
    against = reference(y, range(NIGHTS), [range(NIGHTS)])
    assert curve_track(against, y[-4:]).error[0] < curve_track(against, y[-1:]).error[0]


def test_one_night_has_no_others():
    assert np.isnan(against_the_others(np.array([[1.0, 2.0]]))).all()
