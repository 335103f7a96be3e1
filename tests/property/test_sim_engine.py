"""Whatever is asked of it, the scheduler keeps its books."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import sim_driving as driving
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.sim.engine import Engine
from sweep.sim.sequence import Sequence
from sweep.sim.settings import Settings

BLOCKS = 40
request = st.tuples(st.integers(0, 60_000_000), st.integers(1, 300), st.integers(1, 200))
requests = st.lists(request, min_size=1, max_size=12)
budgets = st.sampled_from([32, 64, 8192])


def sequences(asked: list[tuple[int, int, int]], chain: tuple[int, ...] = ()) -> list[Sequence]:
    arrivals = accumulate(gap for gap, _, _ in asked)
    return [
        Sequence(number, prompt, osl, at, chain[: (prompt - 1) // 16])
        for number, (at, (_, prompt, osl)) in enumerate(zip(arrivals, asked, strict=True))
    ]


@settings(max_examples=40, deadline=None)
@given(requests, budgets, st.integers(1, 6))
def test_it_is_the_plain_scheduler_bit_for_bit(asked, budget, most):
    rules = Settings(budget_tokens=budget, max_sequences=most)
    engine = Engine(driving.small(BLOCKS), rules)
    ours = sequences(asked)
    for _ in driving.play(engine, ours):
        pass
    plain = driving.plainly(driving.small(BLOCKS), rules, [(s.arrival_ns, s.prompt, s.osl) for s in ours])
    for sequence, one in zip(ours, plain, strict=True):
        assert engine.progress(sequence)[0].tolist() == one.emitted_ns
        assert sequence.preemptions == one.preemptions


@settings(max_examples=40, deadline=None)
@given(requests, budgets, st.integers(1, 6), st.integers(0, 3), st.booleans())
def test_tokens_are_conserved_and_memory_is_never_over_capacity(asked, budget, most, drafts, cache):
    engine = Engine(driving.small(BLOCKS), Settings(budget_tokens=budget, max_sequences=most, draft_tokens=drafts, noise=0.1))
    ours = sequences(asked, tuple(range(20)) if cache else ())
    told = dict.fromkeys(range(len(ours)), 0)
    ended_ns = 0
    for step in driving.play(engine, ours):
        assert step.end_ns > step.start_ns >= ended_ns
        ended_ns = step.end_ns
        assert 0 <= engine.pool.held <= engine.pool.capacity
        assert step.tokens <= budget
        assert step.sequences <= most
        for sequence, tokens in engine.emissions(step):
            told[sequence.request] += tokens
    assert engine.pool.held == 0
    assert not engine.running
    assert not engine.waiting
    for sequence in ours:
        times, tokens = engine.progress(sequence)
        assert tokens.sum() == told[sequence.request] == sequence.emitted == sequence.osl
        assert tokens.max() <= drafts + 1
        assert (np.diff(times) > 0).all()
        assert times[0] > sequence.admitted_ns >= sequence.arrival_ns
        assert sequence.cached < sequence.prompt


@settings(max_examples=40, deadline=None)
@given(requests, budgets, st.integers(1, 6))
def test_first_come_first_served(asked, budget, most):
    engine = Engine(driving.small(BLOCKS), Settings(budget_tokens=budget, max_sequences=most))
    ours = sequences(asked)
    for _ in driving.play(engine, ours):
        pass
    by_arrival = sorted(ours, key=lambda sequence: (sequence.arrival_ns, sequence.request))
    admitted = [sequence.admitted_ns for sequence in by_arrival]
    assert admitted == sorted(admitted)
    if not engine.preemptions:
        firsts = [int(engine.progress(sequence)[0][0]) for sequence in by_arrival]
        assert firsts == sorted(firsts)


@settings(max_examples=40, deadline=None)
@given(requests, budgets, st.integers(1, 6), st.integers(0, 3))
def test_without_preemption_nobody_starves(asked, budget, most, drafts):
    """Who decodes emits in every step, and while someone waits every step computes for those before him."""
    engine = Engine(driving.small(5 * BLOCKS), Settings(budget_tokens=budget, max_sequences=most, draft_tokens=drafts))
    decoding: set[int] = set()
    for step in driving.play(engine, sequences(asked)):
        assert not engine.preemptions
        emitted = {sequence.request for sequence, tokens in engine.emissions(step) if tokens > 0}
        assert decoding <= emitted
        assert step.tokens > 0
        decoding = {sequence.request for sequence in engine.running.values() if sequence.decoding}


@settings(max_examples=40, deadline=None)
@given(requests, st.data())
def test_dropping_requests_leaves_nothing_behind(asked, data):
    engine = Engine(driving.small(BLOCKS), Settings(budget_tokens=64))
    ours = sequences(asked)
    dropped = data.draw(st.sets(st.sampled_from(range(len(ours)))))
    for step in driving.play(engine, ours):
        for number in dropped:
            if step.index % 7 == number % 7:
                engine.drop(ours[number])
    assert engine.pool.held == len(engine.running) == 0
    for sequence in ours:
        if sequence.request not in dropped:
            assert engine.progress(sequence)[1].sum() == sequence.osl


@settings(max_examples=20, deadline=None)
@given(requests, st.integers(0, 3), st.integers(0, 5))
def test_same_inputs_same_steps(asked, drafts, seed):
    def run():
        engine = Engine(driving.small(BLOCKS), Settings(draft_tokens=drafts, noise=0.2, seed=seed))
        return [(step.start_ns, step.end_ns, step.tokens) for step in driving.play(engine, sequences(asked))]

    assert run() == run()
