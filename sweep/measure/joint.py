"""(TTFT, TPOT, E2E) of every request together: goodput under an SLO nobody had thought of.

Durations are whole µs, rounded up, so that `x ≤ limit` has the records' own answer for every limit of whole µs.
Up to 5,000 requests the table holds each of them; above, counts in log-linear cells 1/1024 wide. Were there more than
`MAX_CELLS` occupied ones, cells are joined two by two on every axis until there are not; the table says how wide they are.
Occupancy only grows by merging, so merging is associative: the order of shards never shows. Output tokens are summed beside
the counts, for goodput in tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.measure import loglinear
from sweep.measure.goodput import limit_ns
from sweep.model import Bound, Outcome
from sweep.records import Records

Ints = NDArray[np.int64]

MAX_COLUMNS = 5_000
MAX_CELLS = 1 << 17
_AXIS_BITS = 16  # a cell's index fits


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Rows in order of (tpot, ttft, e2e). `shift` None: µs of single requests; else cells of that coarseness and their counts.

    `tpot` is one more than the µs or the cell; 0 where an answer had no second token. `tokens` sums the output of a row's
    requests; what nobody counted adds nothing.
    """

    ttft: Ints
    tpot: Ints
    e2e: Ints
    counts: Ints
    tokens: Ints
    failed: int
    shift: int | None

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def total_tokens(self) -> int:
        return int(self.tokens.sum())


@dataclass(frozen=True, slots=True)
class Bracket:
    """The records' own count lies in low..high, its output tokens in tokens_low..tokens_high."""

    low: int
    high: int
    tokens_low: int
    tokens_high: int


def build(cohort: Records, due: str) -> Joint:
    """The table of a cohort's answers; what failed is counted."""
    ok = cohort.where((cohort["outcome"] == Outcome.OK) & cohort.present("first_ns") & cohort.present("last_ns"))
    tokens = np.where(ok.present("osl"), ok["osl"], 0)
    steps = tokens - 1
    tpot_us = _ceil_div(ok["last_ns"] - ok["first_ns"], np.maximum(steps, 1) * 1000)
    return from_columns(
        _ceil_div(ok["first_ns"] - ok[due], 1000),
        np.where(steps > 0, tpot_us + 1, 0),
        _ceil_div(ok["last_ns"] - ok[due], 1000),
        tokens.astype(np.int64),
        len(cohort) - len(ok),
    )


def from_columns(ttft_us: Ints, tpot_us_plus_1: Ints, e2e_us: Ints, tokens: Ints, failed: int) -> Joint:
    order = np.lexsort((tokens, e2e_us, ttft_us, tpot_us_plus_1))
    ones = np.ones(len(order), np.int64)
    columns = Joint(ttft_us[order], tpot_us_plus_1[order], e2e_us[order], ones, tokens[order], failed, None)
    return columns if len(order) <= MAX_COLUMNS else _fitted(columns)


def merge(parts: Sequence[Joint]) -> Joint:
    """Shards or repeats of one cell as if measured together."""
    failed = sum(part.failed for part in parts)
    if all(part.shift is None for part in parts):
        ttft, tpot, e2e, tokens = (
            np.concatenate([getattr(part, axis) for part in parts]) if parts else np.empty(0, np.int64)
            for axis in ("ttft", "tpot", "e2e", "tokens")
        )
        return from_columns(ttft, tpot, e2e, tokens, failed)
    shift = max(part.shift or 0 for part in parts)
    even = [_coarsened(part, shift) for part in parts]
    ttft, tpot, e2e, counts, tokens = (
        np.concatenate([getattr(part, axis) for part in even]) for axis in ("ttft", "tpot", "e2e", "counts", "tokens")
    )
    return _fitted(_counted(ttft, tpot, e2e, counts, tokens, failed, shift))


def good(table: Joint, bounds: Sequence[Bound]) -> Bracket:
    """How many requests keep every bound: exactly, when the table has columns and the limits are whole µs."""
    sure = np.ones(len(table.counts), bool)
    maybe = np.ones(len(table.counts), bool)
    for bound in bounds:
        low_us, high_us = edges_us(table, bound.metric)
        limit = limit_ns(bound)
        sure &= high_us * 1000 <= limit
        maybe &= np.maximum(low_us - 1, 0) * 1000 < max(limit, 1)  # above low − 1, or 0 itself
    low, high, tokens_low, tokens_high = (
        int(summed[kept].sum()) for summed in (table.counts, table.tokens) for kept in (sure, maybe)
    )
    return Bracket(low, high, tokens_low, tokens_high)


def edges_us(table: Joint, metric: str) -> tuple[Ints, Ints]:
    """The least and the greatest µs of each row; an answer without TPOT keeps any bound on it."""
    stored = getattr(table, metric)
    held = stored if metric != "tpot" else np.maximum(stored - 1, 0)
    if table.shift is None:
        return held, held
    low, high = loglinear.low_edge(held, table.shift), loglinear.high_edge(held, table.shift)
    if metric != "tpot":
        return low, high
    return np.where(stored > 0, low, 0), np.where(stored > 0, high, 0)


def _fitted(table: Joint) -> Joint:
    """Cells, as fine as `MAX_CELLS` allows."""
    shift = table.shift or 0
    fitted = _coarsened(table, shift)
    while len(fitted.counts) > MAX_CELLS:
        shift += 1
        fitted = _coarsened(fitted, shift)
    return fitted


def _coarsened(table: Joint, shift: int) -> Joint:
    """The table in cells of `shift`, which is no finer than its own."""
    if table.shift == shift:
        return table
    ttft, tpot, e2e = table.ttft, np.maximum(table.tpot - 1, 0), table.e2e
    if table.shift is None:
        ttft, tpot, e2e = (loglinear.index_of(us, shift) for us in (ttft, tpot, e2e))
    else:
        ttft, tpot, e2e = (cells >> (shift - table.shift) for cells in (ttft, tpot, e2e))
    return _counted(ttft, np.where(table.tpot > 0, tpot + 1, 0), e2e, table.counts, table.tokens, table.failed, shift)


def _counted(ttft: Ints, tpot: Ints, e2e: Ints, counts: Ints, tokens: Ints, failed: int, shift: int) -> Joint:
    """Equal cells become one."""
    keys, inverse = np.unique((tpot << 2 * _AXIS_BITS) | (ttft << _AXIS_BITS) | e2e, return_inverse=True)
    mask = (1 << _AXIS_BITS) - 1
    n, summed = (np.bincount(inverse, weights=weights, minlength=len(keys)).astype(np.int64) for weights in (counts, tokens))
    return Joint((keys >> _AXIS_BITS) & mask, keys >> 2 * _AXIS_BITS, keys & mask, n, summed, failed, shift)


def _ceil_div(a: Ints, b: Ints | int) -> Ints:
    quotient: Ints = -(-a // b)
    return quotient
