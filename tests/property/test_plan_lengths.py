"""Lengths: a function of (seed, request, salt), within their bounds, with the mean they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.model import Length
from sweep.plan.lengths import draw, expected, longest, nominal, pairs
from sweep.plan.profile import list_profiles


@st.composite
def lengths(pick: st.DrawFn) -> Length:
    shape = pick(st.sampled_from(["fixed", "range", "log-normal"]))
    if shape == "fixed":
        return Length(mean=pick(st.integers(1, 100_000)))
    if shape == "range":
        return Length(max=pick(st.integers(1, 100_000)), range_ratio=pick(st.floats(0.01, 1)))
    low, mean, high = sorted(pick(st.lists(st.integers(1, 100_000), min_size=3, max_size=3, unique=True)))
    return Length(mean=mean, sd=pick(st.integers(1, 100_000)), min=low, max=high)


SEEDS = st.integers(-(2**63), 2**63 - 1)


@given(lengths(), SEEDS, st.integers(0, 2**31 - 1000), st.permutations(range(20)))
def test_the_same_request_has_the_same_length_in_any_order(length: Length, seed: int, first: int, order: list[int]) -> None:
    requests = first + np.arange(20, dtype=np.int64)
    whole = draw(length, seed, requests, 1)
    assert np.array_equal(draw(length, seed, requests[order], 1), whole[order])
    assert [int(draw(length, seed, requests[i : i + 1], 1)[0]) for i in range(20)] == whole.tolist()


@given(lengths(), SEEDS)
def test_lengths_stay_within_their_bounds(length: Length, seed: int) -> None:
    drawn = draw(length, seed, np.arange(1000), 1)
    assert drawn.dtype == np.int64
    assert drawn.min() >= 1
    assert drawn.max() <= longest(length)
    if length.range_ratio is not None:
        assert drawn.min() >= length.range_ratio * longest(length) - 1e-6
    if length.min is not None:
        assert drawn.min() >= length.min


@given(lengths())
def test_the_mean_is_what_is_promised(length: Length) -> None:
    drawn = draw(length, 4, np.arange(20_000), 1)
    assert drawn.mean() == pytest.approx(expected(length), abs=5 * drawn.std() / 20_000**0.5 + 0.51)


def test_a_range_is_uniform_to_its_ends() -> None:
    drawn = draw(Length(max=10, range_ratio=0.8), 1, np.arange(30_000), 1)
    assert np.bincount(drawn)[8:].tolist() == pytest.approx([10_000] * 3, abs=400)


def test_isl_and_osl_are_independent() -> None:
    chat = next(profile for profile in list_profiles() if profile.name == "chat")
    isl, osl = pairs(chat, 1, np.arange(20_000))
    assert abs(np.corrcoef(np.log(isl), np.log(osl))[0, 1]) < 0.03
    assert np.median(isl) == pytest.approx(1024, rel=0.03)
    assert np.median(osl) == pytest.approx(130, rel=0.04)
    assert nominal(chat.isl) == 1280
