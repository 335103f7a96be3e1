"""HdrHistogram V2 of latencies: µs, 3 digits, 1 µs to 1 h; recorded in bulk, added, read, by any language's library.

`record` does what a loop of `record_value` does, forty times faster, and encodes to the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from sweep.measure import loglinear

LOWEST_US = 1
HIGHEST_US = 3_600_000_000
DIGITS = 3
MAX_ENCODED = 1 << 19
MAX_PLAIN = 1 << 18  # eight bytes for each of 23,552 cells, and the header
MAX_NUMBER = 8  # bytes of a count: 2^55 of them
PEEKED = 4096

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """`counts[i]` values fell into cell i; `lost` were negative or above an hour and are counted here only."""

    counts: Ints
    lost: int = 0

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def record(ns: NDArray[np.floating[Any]] | NDArray[np.integer[Any]]) -> Histogram:
    """A histogram of durations in ns, rounded to µs."""
    us = np.rint(np.asarray(ns, np.float64) / 1000)
    inside = (us >= 0) & (us <= HIGHEST_US)
    counts = np.bincount(loglinear.index_of(us[inside].astype(np.int64)), minlength=_cells())
    return Histogram(counts.astype(np.int64), int(len(us) - inside.sum()))


def _cells() -> int:
    return int(HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS).counts_len)


def encode(histogram: Histogram) -> str:
    """HdrHistogram V2, compressed, base64."""
    hdr = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)
    np.ctypeslib.as_array(hdr.counts)[: len(histogram.counts)] = histogram.counts
    filled = np.flatnonzero(histogram.counts)
    if len(filled):
        hdr.total_count = histogram.total
        hdr.min_value, hdr.max_value = (int(edge) for edge in loglinear.low_edge(filled[[0, -1]]))
    return bytes(hdr.encode()).decode("ascii")


def decode(text: str) -> Histogram:
    """The histogram of an encoding with our range and digits; ValueError for anything else, in bounded memory."""
    try:
        if len(text) > MAX_ENCODED:
            raise ValueError("too long")
        raw = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack_from(">II", raw)
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(raw[8:], MAX_PLAIN)
        if cookie & ~0xF0 != 0x1C849304 or length != len(raw) - 8 or not unpacker.eof:
            raise ValueError("not HdrHistogram V2, or too large")
        inner, size, offset, digits, lowest, highest = struct.unpack_from(">IIIIQQ", plain)
        if inner & ~0xF0 != 0x1C849303 or size != len(plain) - 40 or offset:
            raise ValueError("not HdrHistogram V2")
        if (digits, lowest, highest) != (DIGITS, LOWEST_US, HIGHEST_US):
            raise ValueError(f"{digits} digits over {lowest}..{highest} µs are not this file's layout")
        return Histogram(_counts(plain[40:]))
    except (binascii.Error, struct.error, zlib.error, ValueError) as error:
        raise ValueError(f"histogram: {error}") from None


def peek(text: str) -> int:
    """How many bytes the counts of an encoding take when unpacked, as its first bytes say; ValueError when they say nothing."""
    try:
        raw = base64.b64decode(text[:PEEKED], validate=True)
        _, size = struct.unpack_from(">II", zlib.decompressobj().decompress(raw[8:], 40))
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(f"histogram: {error}") from None
    return int(size)


def _counts(payload: bytes) -> Ints:
    """ZigZag LEB128: a positive number is a count, a negative one that many empty cells."""
    raw = np.frombuffer(payload, np.uint8)
    ends = np.flatnonzero(raw < 0x80)
    if len(raw) and (len(ends) == 0 or ends[-1] != len(raw) - 1):
        raise ValueError("a number is cut off")
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    if len(ends) and (ends - starts).max() >= MAX_NUMBER:
        raise ValueError("a number is too large")
    digit = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    values = np.add.reduceat((raw & 0x7F).astype(np.int64) << 7 * digit, starts) if len(starts) else np.empty(0, np.int64)
    signed = (values >> 1) ^ -(values & 1)
    width = np.where(signed < 0, -signed, 1)
    if len(width) and (width.max() > _cells() or width.sum() > _cells()):
        raise ValueError("more cells than the range has")
    counts = np.zeros(_cells(), np.int64)
    filled = signed >= 0
    counts[(np.cumsum(width) - width)[filled]] = signed[filled]
    return counts


def add(parts: list[Histogram]) -> Histogram:
    """Histograms of the same metric together: counts add."""
    return Histogram(np.sum([part.counts for part in parts], axis=0, dtype=np.int64), sum(part.lost for part in parts))


def percentile_us(histogram: Histogram, q: float) -> int | None:
    """The highest µs equivalent to the q-quantile (inverted CDF); None when empty."""
    total = histogram.total
    if total == 0:
        return None
    wanted = max(1, int(np.ceil(q * total - 1e-9)))
    cell = np.searchsorted(np.cumsum(histogram.counts), wanted)
    return int(loglinear.high_edge(np.asarray(cell, np.int64)))
