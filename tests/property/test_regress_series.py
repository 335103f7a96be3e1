"""Medians with holes, and leaving one out without doing it n times, against the plain way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sweep.curve.nightly import dating
from sweep.curve.nightly.series import against_the_others, mean, median

HOLED = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.one_of(st.just(np.nan), st.integers(-5, 5).map(float)),
)


def plain_median(values):
    known = values[np.isfinite(values)]
    return np.median(known) if len(known) else np.nan


@given(HOLED)
def test_median_and_mean_of_what_is_there(values):
    columns = range(values.shape[1])
    np.testing.assert_array_equal(median(values, 0), [plain_median(values[:, each]) for each in columns])
    known = [values[np.isfinite(values[:, each]), each] for each in columns]
    np.testing.assert_allclose(mean(values, 0), [each.mean() if len(each) else np.nan for each in known])


@given(HOLED)
def test_each_night_against_the_others(values):
    expected = np.full_like(values, np.nan)
    for row, column in np.ndindex(*values.shape):
        if np.isfinite(values[row, column]):
            expected[row, column] = values[row, column] - plain_median(np.delete(values[:, column], row))
    np.testing.assert_array_equal(against_the_others(values), expected)


@given(st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=6))
def test_pelt_finds_the_cheapest_cut(x):
    """Against every way to cut the series."""
    values = np.array(x)
    price = dating.PRICE * np.log(len(x)) * max(dating.noise(values), 1e-12)

    def cost(cuts):
        return sum(np.abs(part - np.median(part)).sum() for part in np.split(values, cuts)) + price * len(cuts)

    every = [[place + 1 for place in range(len(x) - 1) if mask >> place & 1] for mask in range(1 << (len(x) - 1))]
    assert np.isclose(cost(dating.jumps(values)), min(map(cost, every)))
