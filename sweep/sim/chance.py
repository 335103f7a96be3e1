"""Randomness without state: a number in [0, 1) is a hash of a seed and of where it is used.

The same (seed, place) gives the same number in any order, in any process: runs repeat bit for bit. The mix is splitmix64
(Steele, Lea, Flood 2014).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def _mix(z: int) -> int:
    z = (z + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _key(seed: int, place: tuple[int, ...]) -> int:
    key = _mix(seed & MASK)
    for counter in place:
        key = _mix(key ^ (counter & MASK))
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
    with np.errstate(over="ignore"):
        z = np.uint64(_key(seed, place)) ^ np.arange(first, first + count, dtype=np.uint64)
        z = z + np.uint64(GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
