"""A file's pairs of lengths as a profile keeps them, so that what a request asks and how long its answer is stay together.

Text, so that a curve file remains diff-able: base64 of zlib of the columns ISL and OSL, little-endian int32 each.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MOST = 10_000  # rows: tens of kilobytes
_BYTES = 8  # a row
_TYPE = np.dtype("<i4")


def thinned(rows: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """At most `MOST` of the rows, evenly spread over the file."""
    if len(rows) <= MOST:
        return rows
    return [rows[place * len(rows) // MOST] for place in range(MOST)]


def encode(rows: Sequence[tuple[int, int]]) -> str:
    return base64.b64encode(zlib.compress(np.array(rows, _TYPE).T.tobytes(), 9)).decode()


@lru_cache(maxsize=8)
def decode(text: str) -> NDArray[np.int64]:
    """(rows, 2): ISL and OSL, read-only. ValueError for a text that holds no rows, too many, or lengths below 1."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(base64.b64decode(text, validate=True), MOST * _BYTES)
    except (binascii.Error, zlib.error):
        raise ValueError("not rows of lengths") from None
    if not unpacking.eof or not data or len(data) % _BYTES:
        raise ValueError(f"not 1 to {MOST} rows of lengths")
    table = np.frombuffer(data, _TYPE).reshape(2, -1).T.astype(np.int64)
    if table.min() < 1:
        raise ValueError("a length below 1")
    table.flags.writeable = False
    return table
