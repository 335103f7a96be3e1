"""Repeats of a load, together."""

from __future__ import annotations

import numpy as np
import pytest
from curve_builder import point
from scipy import stats

from sweep.curve.repeats import difference, repeats


def test_the_interval_is_students_over_the_runs() -> None:
    points = [point(4, repeat=repeat, cell=repeat, output=value) for repeat, value in enumerate((100.0, 104.0, 99.0))]
    (found,) = repeats([*points, point(8, cell=9, output=500)])
    rate = found.estimates["output_tok_per_s"]
    low, high = stats.t.interval(0.95, 2, loc=101, scale=stats.sem([100, 104, 99]))
    assert found.points == ("c4.0", "c4.1", "c4.2")
    assert (rate.value, rate.low, rate.high) == pytest.approx((101, low, high))


def test_disqualified_runs_and_missing_values_take_no_part() -> None:
    points = [point(4, output=100), point(4, repeat=1, output=None), point(4, repeat=2, output=9, disqualified=True)]
    (found,) = repeats(points)
    assert found.points == ("c4.0", "c4.1")
    assert (found.estimates["output_tok_per_s"].value, found.estimates["output_tok_per_s"].low) == (100, None)
    assert repeats(points[:1]) == ()


def test_two_loads_are_compared_by_welch() -> None:
    a, b = [10.0, 11.0, 9.5], [12.0, 15.0, 13.0, 12.5]
    oracle = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    found = difference(a, b)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert difference([1.0, 1.0], [2.0, 2.0]).low == 1.0


def test_three_repeats_cover_what_they_say() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        points = [point(4, repeat=r, cell=r, output=float(value)) for r, value in enumerate(rng.normal(100, 3, 3))]
        rate = repeats(points)[0].estimates["output_tok_per_s"]
        held += rate.low <= 100 <= rate.high
    assert 0.92 <= held / 400 <= 0.98
