"""Randomness without state: a number in [0, 1) is a hash of a seed and of where it is used.

The same (seed, place) gives the same number in any order, in any process: runs repeat bit for bit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sweep.plan.hashing import GOLDEN, fractions, mixed


def _key(seed: int, place: tuple[int, ...]) -> int:
    key = mixed(seed)
    for counter in place:
        key = mixed(key ^ counter)
    return key


def uniform(seed: int, *place: int) -> float:
    """A number in [0, 1) that belongs to this place."""
    return (_key(seed, place) >> 11) * 2.0**-53


def normal(seed: int, *place: int) -> float:
    """A standard normal number that belongs to this place (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(seed, *place, 0)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, *place, 1))


def uniforms(seed: int, *place: int, first: int, count: int) -> NDArray[np.float64]:
    """`uniform(seed, *place, n)` for n = first .. first + count - 1."""
    counters = np.uint64(_key(seed, place)) ^ np.arange(first, first + count, dtype=np.uint64)
    return fractions(counters + np.uint64(GOLDEN))
