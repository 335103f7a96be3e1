"""Delivered tokens and requests in flight, counted again event by event."""

from __future__ import annotations

import numpy as np
import pytest
from unit.measure.synthetic import S, answer, cell, closed, failure

from sweep import records
from sweep.measure import rates
from sweep.measure.window import place
from sweep.model import Window

WINDOW = Window(begin_ns=2 * S, end_ns=12 * S, begin_reason="", end_reason="")


def test_tokens_count_when_they_arrive():
    early = answer(0, 0, osl=10, ttft_ns=S, tpot_ns=S // 2)  # tokens at 1.0, 1.5, … 5.5 s: eight of them from 2.0 s on
    late = answer(1, 11 * S, osl=10, ttft_ns=S // 2, tpot_ns=S // 4)  # at 11.5, 11.75, then outside
    lost = answer(2, 3 * S, osl=50, outcome="truncated")
    found = rates.rates(records.from_rows([early, late, lost]), WINDOW)
    assert found["output_tok_per_s"].value == pytest.approx(1.0)
    assert found["input_tok_per_s"].value == pytest.approx(10.0)  # one prompt was answered inside
    assert found["total_tok_per_s"].value == pytest.approx(11.0)
    assert found["req_per_s"].value == pytest.approx(0.1)


def test_an_unfinished_answer_counts_what_it_brought():
    cut = answer(0, 3 * S, osl=5, outcome="cut") | {"osl": None, "isl": None, "token_source": "chunks"}
    whole = answer(1, 3 * S, osl=5)
    found = rates.rates(records.from_rows([cut, whole]), WINDOW)
    assert found["output_tok_per_s"].value == pytest.approx(1.0)
    assert found["input_tok_per_s"].value == pytest.approx(20.0)
    assert found["req_per_s"].value == pytest.approx(0.1)


def test_what_nobody_counted_is_null():
    mute = failure(0, 3 * S, 4 * S)
    found = rates.rates(records.from_rows([mute]), WINDOW)
    assert found["output_tok_per_s"].value is None
    assert found["input_tok_per_s"].value is None
    assert {one.value for one in rates.rates(records.EMPTY, None).values()} == {None}


def test_a_window_in_two_parts_delivers_the_same():
    found = closed(5, 20 * S)
    middle = Window(begin_ns=2 * S, end_ns=7 * S + 3, begin_reason="", end_reason="")
    rest = Window(begin_ns=7 * S + 3, end_ns=12 * S, begin_reason="", end_reason="")
    for name in ("output_tok_per_s", "input_tok_per_s", "req_per_s"):
        parts = sum(rates.rates(found, part)[name].value * part.seconds for part in (middle, rest))
        assert rates.rates(found, WINDOW)[name].value * WINDOW.seconds == pytest.approx(parts)


def test_concurrency_is_exact():
    found = closed(5, 20 * S, fail=0.1)
    mean, peak = rates.concurrency(found, WINDOW)
    marks = np.concatenate([found["sent_ns"], found["end_ns"], [WINDOW.begin_ns, WINDOW.end_ns]])
    marks = np.unique(marks[(marks >= WINDOW.begin_ns) & (marks <= WINDOW.end_ns)])
    levels = [int(((found["sent_ns"] <= t) & (found["end_ns"] > t)).sum()) for t in marks]
    area = sum(level * (b - a) for level, a, b in zip(levels, marks[:-1], marks[1:], strict=False))
    assert mean.value == pytest.approx(area / (WINDOW.end_ns - WINDOW.begin_ns), rel=1e-12)
    assert peak == max(levels) == 5


def test_a_request_in_flight_at_the_end_counts_as_such():
    open_one = answer(0, 3 * S) | {"end_ns": None, "outcome": None}
    mean, peak = rates.concurrency(records.from_rows([open_one]), WINDOW)
    assert mean.value == pytest.approx(0.9)
    assert peak == 1


def test_the_interval_of_a_closed_loops_throughput_holds_its_long_run():
    found = closed(6, 300 * S, seed=1)
    long = place(cell(level=6, duration_s=1.0), found, 300 * S)
    short = place(cell(level=6, duration_s=1.0), found, 30 * S)
    assert long is not None
    assert short is not None
    truth = rates.rates(found, long)["output_tok_per_s"].value
    short_rate = rates.rates(found, short)["output_tok_per_s"]
    assert short_rate.low < truth < short_rate.high
    assert short_rate.value == pytest.approx(truth, rel=0.03)
