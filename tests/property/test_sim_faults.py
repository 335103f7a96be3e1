"""Faults strike the share they are asked to strike, whatever order requests come in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sweep.sim.faults import KINDS, Faults

REQUESTS = 2000


@settings(max_examples=22, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(KINDS)), st.floats(0.001, 0.999), st.integers(0, 2**32))
def test_hits_are_binomial(kind, share, seed):
    faults = Faults({kind: share}, seed)
    hits = sum(kind in faults.of(request) for request in range(REQUESTS))
    assert binom.ppf(1e-5, REQUESTS, share) <= hits <= binom.ppf(1 - 1e-5, REQUESTS, share)


@given(st.integers(0, 2**32), st.permutations(range(50)))
def test_a_fault_belongs_to_its_request_not_to_its_turn(seed, order):
    faults = Faults({"truncated": 0.3, "reset": 0.3}, seed)
    assert {n: faults.of(n) for n in order} == {n: faults.of(n) for n in range(50)}


def test_kinds_are_independent():
    faults = Faults({"truncated": 0.5, "crlf": 0.5}, seed=3)
    both = sum(len(faults.of(request)) == 2 for request in range(REQUESTS))
    assert both / REQUESTS == pytest.approx(0.25, abs=0.03)


@given(st.integers(0, 1000), st.integers(2, 10_000))
def test_what_strikes_midway_strikes_midway(request, count):
    assert 1 <= Faults().place(request, count) < count
