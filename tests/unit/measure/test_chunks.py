"""Gaps, token weights and the reader's pace, on answers small enough to do by hand."""

from __future__ import annotations

import numpy as np
import pytest
from unit.measure.synthetic import S, answer

from sweep import records
from sweep.measure import chunks


def of(*answers: dict) -> records.Records:
    return records.from_rows(answers)


def chunked(request: int, times_ns: list[int], tokens: list[int], osl: int | None, **more) -> dict:
    return answer(request, 0) | {
        "first_ns": times_ns[0], "last_ns": times_ns[-1], "end_ns": times_ns[-1], "osl": osl, "chunks": len(times_ns),
        "chunk_ns": times_ns, "chunk_tokens": tokens,
    } | more  # fmt: skip


def test_tokens_are_the_chunks_when_they_agree():
    found = of(chunked(0, [10, 20, 30], [1, 2, 1], 4))
    assert chunks.delivered_tokens(found).tolist() == [1, 2, 1]


def test_usage_is_spread_over_the_chunks_and_a_cut_answer_is_scaled_like_the_others():
    found = of(chunked(0, [10, 20, 30, 40], [1, 1, 1, 1], 10), chunked(1, [10, 20], [1, 1], None, outcome="cut"))
    tokens = chunks.delivered_tokens(found)
    assert tokens[:4].sum() == 10
    assert tokens[4:].sum() == 5
    assert tokens[:4].max() - tokens[:4].min() <= 1


def test_nobody_counted():
    found = of(chunked(0, [10, 20], [1, 1], None), answer(1, 0, osl=1) | {"chunk_ns": [], "chunk_tokens": []})
    assert chunks.delivered_tokens(found).tolist() == [1, 1]


def test_itl_is_a_gap_over_its_tokens_once_for_each():
    found = of(chunked(0, [10, 20, 60], [1, 1, 4], 6), chunked(1, [5, 12], [3, 2], 5))
    tokens = chunks.delivered_tokens(found)
    gaps = chunks.gaps(found, tokens)
    assert gaps.ns.tolist() == [10, 40, 7]
    assert chunks.itl_ns(gaps).tolist() == [10, 10, 10, 10, 10, 3.5, 3.5]
    assert chunks.max_stall_ns(of(answer(0, 0, tpot_ns=7), answer(1, 0, osl=1))).tolist() == [7]


def keeps_up(times_s, tokens, start_s, pace) -> bool:
    """A reader in small steps: at each arrival, was what came before already read?"""
    had = 0
    for at, brought in zip(times_s, tokens, strict=True):
        if at > start_s and pace * (at - start_s) > had * (1 + 1e-12):
            return False
        had += brought
    return True


@pytest.mark.parametrize("seed", range(5))
def test_the_smooth_pace_is_the_highest_without_a_stall(seed):
    rng = np.random.default_rng(seed)
    times = (S + np.cumsum(rng.integers(1, S // 4, 40))).tolist()
    tokens = rng.integers(1, 4, 40).tolist()
    found = of(chunked(0, times, tokens, sum(tokens)))
    pace = float(chunks.smooth_tok_per_s(found, found.chunk_tokens)[0])
    times_s, start_s = [t / 1e9 for t in times], times[0] / 1e9 + chunks.START_BUFFER_S
    assert keeps_up(times_s, tokens, start_s, pace * 0.9999)
    assert not keeps_up(times_s, tokens, start_s, pace * 1.0001)


def test_a_steady_stream_reads_at_its_own_pace_and_a_short_answer_has_none():
    long = answer(0, 0, osl=2000, tpot_ns=S // 100)
    assert chunks.smooth_tok_per_s(of(long), np.ones(2000, np.int64))[0] == pytest.approx(100, rel=0.03)
    assert np.isinf(chunks.smooth_tok_per_s(of(answer(0, 0)), np.ones(8, np.int64))[0])
