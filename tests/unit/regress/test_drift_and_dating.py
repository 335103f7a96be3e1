from __future__ import annotations

import numpy as np
import pytest

from sweep.curve.nightly import dating, drift


def test_a_step_is_dated():
    rng = np.random.default_rng(1)
    x = rng.normal(0, 0.01, 40)
    x[25:] += 0.05
    assert dating.jumps(x) == [25]


def test_missing_nights_count_in_the_date():
    x = np.array([0.0, 0.1, np.nan, 0.0, 0.1, np.nan, 3.0, 3.1, 3.0])
    assert dating.began(x) == 6


def test_two_slow_nights_are_enough_for_a_date():
    """A change is dated when it is confirmed, which is mostly on its second night."""
    x = np.concatenate([np.tile([0.0, 0.1], 10), [0.9, 1.0]])
    assert dating.began(x) == 20


def test_where_nothing_stands_out_the_cheapest_cut_is_given():
    assert 0 < dating.began(np.array([0.0, 1.0, 0.2, 1.1, 0.3, 1.2])) < 6


def test_a_level_without_noise_has_no_jumps():
    assert dating.jumps(np.zeros(30)) == []
    assert dating.jumps(np.array([1.0])) == []


def test_a_slow_drift_adds_up():
    nights = list(range(40))
    z = np.concatenate([np.zeros(10), np.full(30, 1.5)])
    assert drift.begins(z, nights, drift.threshold(360)) == 10


def test_one_wild_night_is_no_drift():
    z = np.zeros(40)
    z[7] = 50.0
    assert drift.begins(z, range(40), drift.threshold(360)) is None


def test_unknown_nights_are_no_evidence():
    assert drift.begins(np.full(40, np.nan), range(40), 1.0) is None


def test_rarer_advice_needs_more():
    sums = [drift.threshold(nights) for nights in (10, 60, 360, 10_000)]
    assert sums == sorted(sums)
    assert sums[0] == drift.THRESHOLDS[0][1]


@pytest.mark.parametrize(("nights", "limit"), drift.THRESHOLDS[1:5])
def test_the_table_gives_the_rates_it_names(nights, limit):
    """A short run of the simulation that made it."""
    rng = np.random.default_rng(nights)
    histories = 3_000
    centre = rng.normal(0, np.sqrt(1.57 / drift.REFERENCE_NIGHTS), histories)
    spread = np.sqrt(rng.chisquare(drift.REFERENCE_NIGHTS - 1, histories) / (drift.REFERENCE_NIGHTS - 1))
    total, crossings = np.zeros(histories), 0
    for _ in range(365):
        total = np.maximum(0, total + np.minimum((rng.normal(size=histories) - centre) / spread, drift.CAP) - drift.SLACK)
        crossings += int((total > limit).sum())
        total[total > limit] = 0
    assert crossings / (365 * histories) == pytest.approx(1 / nights, rel=0.2)
