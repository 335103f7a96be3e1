"""When requests are due. Pure: no clock inside; the load adds its own start.

Open-loop times are absolute offsets and a function of (load, seed, arrival number) alone, exact to the nanosecond. Whatever
share of the arrivals a worker takes, all workers together send the very process one worker would have sent.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sweep.model import Load
from sweep.plan.hashing import uniform

OPEN = ("poisson", "constant", "gamma")
_BLOCK = 4096
_GAP_SALT = 0x6170


def stagger_s(slots: int, spread_s: float) -> NDArray[np.float64]:
    """Closed loop: start offset of each slot, evenly over [0, spread_s)."""
    return np.arange(slots, dtype=np.float64) * np.float64(spread_s / slots)


def offsets_ns(load: Load, seed: int, first: int, count: int) -> NDArray[np.int64]:
    """Open loop: ns from the cell's start to arrivals `first` .. `first + count - 1`.

    `constant` begins at 0; `poisson` and `gamma` begin one gap after 0. Raises ValueError for a load without a schedule.
    """
    if load.kind == "constant":
        return np.asarray(np.rint(np.arange(first, first + count) * (1e9 / load.level)), np.int64)
    if load.kind not in OPEN:
        raise ValueError(f"{load.kind} load has no arrival schedule")
    block, skipped = divmod(first, _BLOCK)
    before_ns = sum(_block_ns(load, seed, earlier) for earlier in range(block))
    gaps_ns = _gaps_ns(load, seed, block * _BLOCK, skipped + count)
    return np.asarray(np.cumsum(gaps_ns)[skipped:] + np.int64(before_ns))


@lru_cache(maxsize=4096)
def _block_ns(load: Load, seed: int, block: int) -> int:
    return int(_gaps_ns(load, seed, block * _BLOCK, _BLOCK).sum())


def _gaps_ns(load: Load, seed: int, first: int, count: int) -> NDArray[np.int64]:
    """Whole nanoseconds, so that their sums do not depend on where a worker begins to add."""
    index = np.arange(first, first + count, dtype=np.int64)
    if load.kind == "poisson":
        gaps = -np.log1p(-uniform(seed, index, _GAP_SALT))
    elif load.shape is None or load.shape <= 0:
        raise ValueError("gamma arrivals need a shape above 0")
    else:
        gaps = _gamma(load.shape, seed, index) / load.shape
    return np.rint(gaps * (1e9 / load.level)).astype(np.int64)


def _gamma(shape: float, seed: int, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Gamma(shape, 1) by Marsaglia & Tsang (2000), each index rejecting on its own counters; shapes below 1 by their boost."""
    boosted = shape if shape >= 1 else shape + 1
    d = boosted - 1 / 3
    drawn = np.empty(index.shape)
    waiting = np.arange(len(index))
    salt = _GAP_SALT
    while len(waiting):
        u, v, w = (uniform(seed, index[waiting], salt + part) for part in (1, 2, 3))
        normal = np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)
        cube = (1 + normal / np.sqrt(9 * d)) ** 3
        positive = np.maximum(cube, 1e-300)
        fits = (cube > 0) & (np.log1p(-w) < 0.5 * normal**2 + d * (1 - cube + np.log(positive)))
        drawn[waiting[fits]] = d * cube[fits]
        waiting = waiting[~fits]
        salt += 3
    if shape >= 1:
        return drawn
    return np.asarray(drawn * (1 - uniform(seed, index, _GAP_SALT)) ** (1 / shape))
