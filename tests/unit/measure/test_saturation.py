"""A full endpoint is seen by answers that stand still midway, and not by what stands in everybody's way alike."""

from __future__ import annotations

import pytest
from unit.measure.synthetic import S, answer, failure

from sweep import records
from sweep.measure import saturation


def answers(gaps_s: list[float], took_s: float = 20.0) -> records.Records:
    """One answer a gap: the longest it stood still, of so long an answer."""
    rows = [
        answer(i, 0) | {"max_gap_ns": round(gap * S), "last_ns": round(took_s * S), "end_ns": round(took_s * S)}
        for i, gap in enumerate(gaps_s)
    ]
    return records.from_rows(rows)


@pytest.mark.parametrize(
    ("gaps_s", "still"),
    [
        ([0.3] * 20, 0.0),  # everybody waits alike for others' prompts
        ([2.0] * 20, 0.0),
        ([0.3] * 18 + [5.0] * 2, 0.1),  # two were preempted
        ([0.3] * 18 + [0.9] * 2, 0.0),  # a network may well do that
        ([0.03] * 18 + [0.8] * 2, 0.0),
        ([0.7] * 18 + [5.0] * 2, 0.0),  # not so far from the usual
    ],
)
def test_only_what_stands_still_far_longer_than_usual_counts(gaps_s, still):
    assert saturation.standing_still(answers(gaps_s), 10.0) == pytest.approx(still)


def test_a_part_of_a_long_answer_is_no_stand_still():
    assert saturation.standing_still(answers([0.3] * 18 + [5.0] * 2, took_s=200.0), 10.0) == 0.0


def test_without_streams_nothing_is_said():
    assert saturation.standing_still(records.from_rows([failure(0, 0, S)]), 10.0) == 0.0
    assert saturation.standing_still(records.from_rows([answer(0, 0, osl=1)]), 10.0) == 0.0
