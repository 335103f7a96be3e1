"""Counter-based randomness: a number drawn for (seed, index, salt) is the same in any order, in any process.

SplitMix64's finaliser (Steele, Lea & Flood 2014) over a mixed counter; 53 bits become a float.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def uniform(seed: int, index: NDArray[np.int64], salt: int) -> NDArray[np.float64]:
    """U[0, 1) for every index; streams of different seeds or salts are unrelated."""
    key = np.uint64(mixed(mixed(seed) ^ salt))
    return fractions(index.astype(np.uint64) * np.uint64(GOLDEN) + key)


def mixed(value: int) -> int:
    """A 64-bit integer scrambled; the scalar form of what `uniform` does to its counter."""
    z = (value + GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def fractions(z: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in [0, 1) of mixed counters: finalised, the upper 53 bits of each."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)
