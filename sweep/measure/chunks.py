"""What the chunks of each answer say: tokens by time, gaps, stalls, the pace a reader can keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.model import Outcome
from sweep.records import Records

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

START_BUFFER_S = 0.5


def delivered_tokens(records: Records) -> Ints:
    """Output tokens that each chunk brought, scaled so that they add up to the answer's own count.

    Chunks count what could be seen (often one a chunk); `osl`, from usage, counts all, also tokens without text and several
    in a chunk. Where both are known an answer's osl is spread over its chunks in proportion; an answer that was cut, and so
    never got its usage, is scaled as the others were together. Rounded within an answer so that its sum is exact.
    """
    sums = _row_sums(records)
    known = records.present("osl") & (sums > 0)
    pooled = float(records["osl"][known].sum()) / float(sums[known].sum()) if known.any() else 1.0
    targets = np.where(known, records["osl"], np.rint(sums * pooled))
    if np.array_equal(targets, sums):
        return records.chunk_tokens
    rows = records.chunk_rows()
    scale = np.divide(targets, sums, out=np.ones(len(sums)), where=sums > 0)[rows]
    before = _tokens_before(records, records.chunk_tokens)
    whole = np.floor(scale * (before + records.chunk_tokens) + 0.5) - np.floor(scale * before + 0.5)
    spread: Ints = whole.astype(np.int64)
    return spread


def _row_sums(records: Records) -> Ints:
    running = np.concatenate([[0], np.cumsum(records.chunk_tokens)]).astype(np.int64)
    return np.diff(running[records.chunk_start])


def _tokens_before(records: Records, tokens: Ints) -> Ints:
    """For every chunk, its answer's tokens before it."""
    running = np.concatenate([[0], np.cumsum(tokens)]).astype(np.int64)
    return running[:-1] - running[records.chunk_start[:-1]][records.chunk_rows()]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Gaps between successive chunks of one answer, and how many tokens came at the end of each."""

    ns: Ints
    tokens: Ints


def gaps(records: Records, tokens: Ints) -> Gaps:
    rows = records.chunk_rows()
    same = rows[1:] == rows[:-1]
    return Gaps(np.diff(records.chunk_ns)[same], tokens[1:][same])


def itl_ns(found: Gaps) -> Floats:
    """Gap per token, once for each token: its percentiles are token-weighted."""
    some = found.tokens > 0
    tokens = found.tokens[some]
    return np.repeat(found.ns[some] / tokens, tokens)


def max_stall_ns(records: Records) -> Ints:
    """The largest chunk gap of each answer of more than one chunk."""
    return records["max_gap_ns"][records.present("max_gap_ns") & (records["chunks"] > 1)]


def smooth_tok_per_s(records: Records, tokens: Ints, buffer_s: float = START_BUFFER_S) -> Floats:
    """Per answer, the highest steady pace at which a reader who starts `buffer_s` after the first token is never kept waiting.

    At the arrival t of a chunk the reader may have read no more than what came before it: pace ≤ tokens before / (t − start).
    Infinite for an answer that is complete before its reader starts.
    """
    rows = records.chunk_rows()
    before = _tokens_before(records, tokens)
    reading_s = (records.chunk_ns - records["first_ns"][rows]) / 1e9 - buffer_s
    waits = reading_s > 0
    pace = np.full(len(records), np.inf)
    np.minimum.at(pace, rows[waits], before[waits] / reading_s[waits])
    return pace[np.diff(records.chunk_start) > 0]


def counts_for_throughput(records: Records) -> NDArray[np.bool_]:
    """Answers whose tokens were delivered for good: complete, or unfinished without a fault of the endpoint's."""
    outcome = records["outcome"]
    mask: NDArray[np.bool_] = (outcome == Outcome.OK) | (outcome == Outcome.CUT) | (outcome == None)  # noqa: E711
    return mask
