"""Where two frontiers are level, and at which of these places they surely change their order.

Frontiers that are the same but for noise cross wherever noise has it. A crossing is sure only between two stretches in each of which
they differ at the place where they are farthest apart, in opposite directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def crossings(difference: Callable[[Floats], float], ln_x: Floats, on_grid: Floats) -> list[float]:
    """ln x where the sign changes, to 1e-9 by bisection; a stretch of exact equality counts once, at its start."""
    found = []
    signs = np.sign(on_grid)
    for left, right in pairwise(np.flatnonzero(signs)):
        if signs[left] == signs[right]:
            continue
        low, high = float(ln_x[left]), float(ln_x[right])
        for _ in range(60):
            middle = (low + high) / 2
            if np.sign(difference(np.array([middle]))) == signs[left]:
                low = middle
            else:
                high = middle
        found.append((low + high) / 2)
    return found


def sure(found: Sequence[float], ln_x: Floats, on_grid: Floats, differ: Callable[[float, float], bool]) -> list[float]:
    """Of the crossings `found`, one between any two sure stretches of opposite sign; `differ` is asked at (ln x, ln ratio)."""
    kept: list[float] = []
    since: list[float] = []  # crossings after the last sure stretch
    last = 0.0
    for place, stretch in enumerate(np.split(np.arange(len(ln_x)), np.searchsorted(ln_x, found))):
        since += found[place - 1 : place] if place else []
        farthest = stretch[np.argmax(np.abs(on_grid[stretch]))]
        sign = float(np.sign(on_grid[farthest]))
        if not differ(float(ln_x[farthest]), float(on_grid[farthest])):
            continue
        if last and sign != last:
            kept.append(since[len(since) // 2])
        last, since = sign, []
    return kept
