"""A joint table as text: differences of sorted rows, byte planes, zlib, base64. Hostile text costs bounded memory.

TPOT is written as differences; TTFT as differences within equal TPOT; E2E, within equal (TPOT, TTFT) as differences, else
as what it deviates from TTFT + TPOT·(a typical answer's tokens − 1), which is little; a row's output tokens as what they deviate
from its count times (E2E − TTFT) / TPOT + 1, which is next to nothing. Each of the five columns becomes eight planes of bytes,
most of them empty, and zlib removes those. Little-endian throughout: version, shift + 1 (0: columns), rows, typical steps, planes
of TPOT, TTFT, E2E, counts, tokens.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sweep.measure import loglinear
from sweep.measure.joint import MAX_CELLS, MAX_COLUMNS, Joint
from sweep.model import JointTable

Ints = NDArray[np.int64]

VERSION = 1
HEADER = struct.Struct("<BBIQ")
COLUMNS = 5
MAX_TEXT = 12 << 20
PEEKED = 4096
MAX_SHIFT = 10
MAX_COUNT = 1 << 40
MAX_TOKENS = 1 << 31  # of one answer


def encode(table: Joint) -> JointTable:
    steps = _typical_steps(table)
    starts = _starts(table.tpot)
    fresh = starts | _starts(table.ttft)
    tpot = _differences(table.tpot)
    ttft = np.where(starts, table.ttft, _differences(table.ttft))
    e2e = np.where(fresh, _zigzag(table.e2e - _expected(table, steps)), _differences(table.e2e))
    tokens = _zigzag(table.tokens - _expected_tokens(table))
    planes = b"".join(_planes(column) for column in (tpot, ttft, e2e, table.counts, tokens))
    head = HEADER.pack(VERSION, 0 if table.shift is None else table.shift + 1, len(table.counts), steps)
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


def peek(stored: JointTable) -> int:
    """How many rows the table has, as its first bytes say; ValueError when they say nothing."""
    try:
        raw = base64.b64decode(stored.data[:PEEKED], validate=True)
        _, _, rows, _ = HEADER.unpack_from(zlib.decompressobj().decompress(raw, HEADER.size))
    except (binascii.Error, zlib.error, struct.error) as error:
        raise ValueError(f"joint table: {error}") from None
    return int(rows)


def _decode(stored: JointTable) -> Joint:
    if len(stored.data) > MAX_TEXT:
        raise ValueError("too long")
    limit = HEADER.size + 8 * COLUMNS * (MAX_COLUMNS if stored.kind == "columns" else MAX_CELLS)
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(base64.b64decode(stored.data, validate=True), limit + 1)
    version, shift_plus_1, rows, steps = HEADER.unpack_from(plain)
    if version != VERSION:
        raise ValueError(f"version {version} is not known")
    if not unpacker.eof or len(plain) != HEADER.size + 8 * COLUMNS * rows or len(plain) > limit:
        raise ValueError("its size is not what it says")
    shift = None if shift_plus_1 == 0 else shift_plus_1 - 1
    if (shift is None) != (stored.kind == "columns") or (shift or 0) > MAX_SHIFT or steps >= MAX_TOKENS:
        raise ValueError(f"not a table of {stored.kind}")
    tpot, ttft, e2e, counts, tokens = (
        _from_planes(plain[HEADER.size + 8 * rows * i : HEADER.size + 8 * rows * (i + 1)]) for i in range(COLUMNS)
    )
    table = _restored(Joint(ttft, tpot, e2e, counts, tokens, stored.failed, shift), steps)
    _check(table, stored)
    return table


def _restored(coded: Joint, steps: int) -> Joint:
    """The table whose columns these are, as they are written."""
    tpot = np.cumsum(coded.tpot)
    starts = _starts(tpot)
    ttft = _running(coded.ttft, starts)
    table = replace(coded, ttft=ttft, tpot=tpot)
    _check_range(tpot, table.shift)
    _check_range(ttft, table.shift)
    fresh = starts | _starts(ttft)
    e2e = _running(np.where(fresh, _unzigzag(coded.e2e) + _expected(table, steps), coded.e2e), fresh)
    _check_range(e2e, table.shift)
    table = replace(table, e2e=e2e)
    return replace(table, tokens=_unzigzag(coded.tokens) + _expected_tokens(table))


def _check(table: Joint, stored: JointTable) -> None:
    if len(table.counts) and (table.counts.min() < 1 or table.counts.max() > MAX_COUNT):
        raise ValueError("a count is impossible")
    if table.shift is None and len(table.counts) and table.counts.max() > 1:
        raise ValueError("a request is counted twice")
    if len(table.tokens) and (table.tokens.min() < 0 or np.any(table.tokens // MAX_TOKENS > table.counts)):
        raise ValueError("a number of tokens is impossible")
    if table.n != stored.n or stored.failed < 0:
        raise ValueError(f"it holds {table.n} requests, not {stored.n}")


def _check_range(values: Ints, shift: int | None) -> None:
    top = loglinear.MAX_VALUE if shift is None else loglinear.MAX_INDEX
    if len(values) and (values.min() < 0 or values.max() > top):
        raise ValueError("a duration is impossible")


def _typical_steps(table: Joint) -> int:
    """Tokens after the first in a typical answer, as far as TTFT, TPOT and E2E betray them."""
    some = table.tpot > 0
    return min(int(np.rint(np.median(_steps(table)[some]))), MAX_TOKENS - 1) if some.any() else 0


def _steps(table: Joint) -> NDArray[np.float64]:
    """Tokens after the first in an answer of each row; 0 where it has no TPOT."""
    after = np.maximum(_us(table.e2e, table.shift) - _us(table.ttft, table.shift), 0)
    tpot = _us(np.maximum(table.tpot - 1, 0), table.shift)
    steps: NDArray[np.float64] = np.where(table.tpot > 0, after / np.maximum(tpot, 1), 0.0)
    return steps


def _expected(table: Joint, steps: int) -> Ints:
    """E2E of each row if it had the typical tokens, in µs or as a cell."""
    tpot_us = np.where(table.tpot > 0, _us(np.maximum(table.tpot - 1, 0), table.shift), 0)
    limit = loglinear.MAX_VALUE
    e2e_us = np.minimum(_us(table.ttft, table.shift) + np.minimum(tpot_us, limit // max(steps, 1)) * steps, limit)
    return e2e_us if table.shift is None else loglinear.index_of(e2e_us, table.shift)


def _expected_tokens(table: Joint) -> Ints:
    """Output tokens of each row by its times."""
    return np.rint(np.minimum(table.counts * (_steps(table) + 1), float(1 << 62))).astype(np.int64)


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
