"""HdrHistogram's log-linear cells, of any coarseness: cell i << shift of 2048 sub-buckets, edges in whole µs.

Values up to 2047 have a cell of their own; above, a cell is at most 1/1024 of its lower edge wide, doubled by every shift.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SUB_BITS = 11
HALF = 1 << (SUB_BITS - 1)
MAX_VALUE = 1 << 53
MAX_INDEX = (53 - SUB_BITS + 2) * HALF


def index_of(values: Ints, shift: int = 0) -> Ints:
    """The cell of each value in 0..2^53."""
    bucket = np.maximum(np.frexp(values.astype(np.float64))[1] - SUB_BITS, 0)
    index: Ints = ((bucket + 1) * HALF + (values >> bucket) - HALF).astype(np.int64)
    return index >> shift


def low_edge(index: Ints, shift: int = 0) -> Ints:
    """The lowest value of each cell."""
    fine = index << shift
    bucket = np.maximum(fine // HALF - 1, 0)
    return np.where(fine < 2 * HALF, fine, (fine % HALF + HALF) << bucket)


def high_edge(index: Ints, shift: int = 0) -> Ints:
    """The highest value of each cell."""
    return low_edge(index + 1, shift) - 1
