"""A joint table as text: differences of sorted rows, byte planes, zlib, base64. Hostile text costs bounded memory.

TPOT is written as differences; TTFT as differences within equal TPOT; E2E, within equal (TPOT, TTFT) as differences, else
as what it deviates from TTFT + TPOT·(a typical answer's tokens − 1), which is little. Each of the four columns (counts last)
becomes eight planes of bytes, most of them empty, and zlib removes those. Little-endian throughout:
version, shift + 1 (0: columns), rows, tokens, planes.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from sweep.measure import loglinear
from sweep.measure.joint import MAX_CELLS, MAX_COLUMNS, Joint
from sweep.model import JointTable

Ints = NDArray[np.int64]

VERSION = 1
HEADER = struct.Struct("<BBIQ")
COLUMNS = 4
MAX_TEXT = 12 << 20
MAX_SHIFT = 10
MAX_COUNT = 1 << 40


def encode(table: Joint) -> JointTable:
    tokens = _typical_tokens(table)
    starts = _starts(table.tpot)
    fresh = starts | _starts(table.ttft)
    tpot = _differences(table.tpot)
    ttft = np.where(starts, table.ttft, _differences(table.ttft))
    e2e = np.where(fresh, _zigzag(table.e2e - _expected(table, tokens)), _differences(table.e2e))
    planes = b"".join(_planes(column) for column in (tpot, ttft, e2e, table.counts))
    head = HEADER.pack(VERSION, 0 if table.shift is None else table.shift + 1, len(table.counts), tokens)
    return JointTable(
        kind="columns" if table.shift is None else "cells",
        n=table.n,
        failed=table.failed,
        data=base64.b64encode(zlib.compress(head + planes, 9)).decode("ascii"),
        relative_width=0.0 if table.shift is None else 2**table.shift / loglinear.HALF,
    )


def decode(stored: JointTable) -> Joint:
    """The table of a text; ValueError when it is none or does not agree with what stands beside it."""
    try:
        return _decode(stored)
    except (binascii.Error, zlib.error, struct.error, ValueError) as error:
        raise ValueError(f"joint table: {error}") from None


def _decode(stored: JointTable) -> Joint:
    if len(stored.data) > MAX_TEXT:
        raise ValueError("too long")
    limit = HEADER.size + 8 * COLUMNS * (MAX_COLUMNS if stored.kind == "columns" else MAX_CELLS)
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(base64.b64decode(stored.data, validate=True), limit + 1)
    version, shift_plus_1, rows, tokens = HEADER.unpack_from(plain)
    if version != VERSION:
        raise ValueError(f"version {version} is not known")
    if not unpacker.eof or len(plain) != HEADER.size + 8 * COLUMNS * rows or len(plain) > limit:
        raise ValueError("its size is not what it says")
    shift = None if shift_plus_1 == 0 else shift_plus_1 - 1
    if (shift is None) != (stored.kind == "columns") or (shift or 0) > MAX_SHIFT or tokens >= 1 << 31:
        raise ValueError(f"not a table of {stored.kind}")
    tpot, ttft, e2e, counts = (
        _from_planes(plain[HEADER.size + 8 * rows * i : HEADER.size + 8 * rows * (i + 1)]) for i in range(COLUMNS)
    )
    table = _restored(tpot, ttft, e2e, counts, tokens, stored.failed, shift)
    _check(table, stored)
    return table


def _restored(tpot: Ints, ttft: Ints, e2e: Ints, counts: Ints, tokens: int, failed: int, shift: int | None) -> Joint:
    tpot = np.cumsum(tpot)
    starts = _starts(tpot)
    ttft = _running(ttft, starts)
    table = Joint(ttft, tpot, e2e, counts, failed, shift)
    _check_range(table.tpot, shift)
    _check_range(table.ttft, shift)
    fresh = starts | _starts(ttft)
    e2e = _running(np.where(fresh, _unzigzag(e2e) + _expected(table, tokens), e2e), fresh)
    return Joint(ttft, tpot, e2e, counts, failed, shift)


def _check(table: Joint, stored: JointTable) -> None:
    _check_range(table.e2e, table.shift)
    if len(table.counts) and (table.counts.min() < 1 or table.counts.max() > MAX_COUNT):
        raise ValueError("a count is impossible")
    if table.shift is None and len(table.counts) and table.counts.max() > 1:
        raise ValueError("a request is counted twice")
    if table.n != stored.n or stored.failed < 0:
        raise ValueError(f"it holds {table.n} requests, not {stored.n}")


def _check_range(values: Ints, shift: int | None) -> None:
    top = loglinear.MAX_VALUE if shift is None else loglinear.MAX_INDEX
    if len(values) and (values.min() < 0 or values.max() > top):
        raise ValueError("a duration is impossible")


def _typical_tokens(table: Joint) -> int:
    """Tokens after the first in a typical answer, as far as TTFT, TPOT and E2E betray them."""
    tpot = np.where(table.tpot > 0, _us(np.maximum(table.tpot - 1, 0), table.shift), 0)
    some = tpot > 0
    if not some.any():
        return 0
    after = _us(table.e2e[some], table.shift) - _us(table.ttft[some], table.shift)
    return max(0, min((1 << 31) - 1, int(np.rint(np.median(after / tpot[some])))))


def _expected(table: Joint, tokens: int) -> Ints:
    """E2E of each row if it had the typical tokens, in µs or as a cell."""
    tpot_us = np.where(table.tpot > 0, _us(np.maximum(table.tpot - 1, 0), table.shift), 0)
    e2e_us = np.minimum(_us(table.ttft, table.shift) + np.minimum(tpot_us, (1 << 53) // max(tokens, 1)) * tokens, 1 << 53)
    return e2e_us if table.shift is None else loglinear.index_of(e2e_us, table.shift)


def _us(held: Ints, shift: int | None) -> Ints:
    return held if shift is None else loglinear.low_edge(held, shift)


def _starts(values: Ints) -> NDArray[np.bool_]:
    """Where a new value begins."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]


def _differences(values: Ints) -> Ints:
    return np.diff(values, prepend=np.int64(0))


def _running(values: Ints, starts: NDArray[np.bool_]) -> Ints:
    """Sums that begin anew at every start."""
    total = np.cumsum(values)
    at = np.maximum.accumulate(np.where(starts, np.arange(len(values)), 0))
    return total - total[at] + values[at]


def _zigzag(values: Ints) -> Ints:
    return (values << 1) ^ (values >> 63)


def _unzigzag(values: Ints) -> Ints:
    return (values >> 1) ^ -(values & 1)


def _planes(values: Ints) -> bytes:
    return np.ascontiguousarray(values.astype("<i8").view(np.uint8).reshape(-1, 8).T).tobytes()


def _from_planes(raw: bytes) -> Ints:
    planes = np.frombuffer(raw, np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).view("<i8").reshape(-1).astype(np.int64)
