from __future__ import annotations

import numpy as np
import pytest
import sim_driving as driving

from sweep.sim.device import preset
from sweep.sim.engine import Engine
from sweep.sim.sequence import Sequence
from sweep.sim.settings import Settings

MS = 1_000_000
DEVICE = preset("synthetic-8b-bf16")


def played(engine: Engine, *sequences: Sequence):
    return list(driving.play(engine, list(sequences)))


def test_a_long_prompt_is_computed_in_chunks_beside_the_decodes():
    engine = Engine(DEVICE)
    steps = played(engine, Sequence(0, 100, 50, 0), Sequence(1, 20_000, 2, 1))
    assert [step.tokens for step in steps[:4]] == [100, 8192, 8192, 20_000 - 2 * 8191 + 1]
    assert [step.sequences for step in steps[:4]] == [1, 2, 2, 2]


def test_every_token_of_a_step_comes_at_its_end():
    engine = Engine(DEVICE)
    one, other = Sequence(0, 1000, 5, 0), Sequence(1, 1000, 5, 0)
    steps = played(engine, one, other)
    assert engine.progress(one)[0].tolist() == engine.progress(other)[0].tolist() == [step.end_ns for step in steps]


def test_an_arrival_within_a_step_waits_for_its_end():
    engine = Engine(DEVICE)
    late = Sequence(1, 100, 2, 10 * MS)
    steps = played(engine, Sequence(0, 1000, 5, 0), late)
    assert late.admitted_ns == steps[0].end_ns > 10 * MS


def test_the_youngest_is_preempted_and_computed_again():
    engine = Engine(driving.small(20))
    old, young = Sequence(0, 150, 60, 0), Sequence(1, 150, 60, 0)
    played(engine, old, young)
    assert (old.preemptions, young.preemptions) == (0, 1)
    assert engine.progress(young)[1].sum() == 60
    assert engine.progress(young)[0][-1] > engine.progress(old)[0][-1]


def test_no_more_sequences_than_places():
    engine = Engine(DEVICE, Settings(max_sequences=3))
    steps = played(engine, *(Sequence(n, 10, 10, 0) for n in range(9)))
    assert max(step.sequences for step in steps) == 3


def test_speculation_emits_the_expected_number_of_tokens_a_step():
    """E = (1 − α^(K+1))/(1 − α) tokens a step (Leviathan et al. 2023)."""
    drafts, acceptance = 3, 0.6
    engine = Engine(DEVICE, Settings(draft_tokens=drafts, acceptance=acceptance))
    sequence = Sequence(0, 10, 20_000, 0)
    played(engine, sequence)
    sizes = engine.progress(sequence)[1][1:]
    assert sizes.mean() == pytest.approx((1 - acceptance ** (drafts + 1)) / (1 - acceptance), rel=0.02)
    assert set(sizes.tolist()) == {1, 2, 3, 4}


def test_drafting_costs_time():
    def seconds(draft_s: float) -> float:
        return played(Engine(DEVICE, Settings(draft_tokens=2, draft_s=draft_s)), Sequence(0, 10, 100, 0))[-1].end_ns / 1e9

    assert seconds(0.01) > seconds(0.0) + 0.2


def test_a_known_prefix_is_not_computed_again_but_its_last_token_is():
    engine = Engine(DEVICE, Settings(prefix_cache=True))
    chain = tuple(range(100, 163))  # 63 full blocks before the last token of 1024
    first, again = Sequence(0, 1024, 2, 0, chain), Sequence(1, 1024, 2, 10_000 * MS, chain)
    steps = played(engine, first, again)
    assert (first.cached, again.cached) == (0, 63 * 16)
    assert [step.tokens for step in steps] == [1024, 1, 16, 1]


def test_noise_is_of_mean_one():
    quiet = played(Engine(DEVICE), Sequence(0, 10, 4000, 0))[-1].end_ns
    noisy = played(Engine(DEVICE, Settings(noise=0.3)), Sequence(0, 10, 4000, 0))
    assert noisy[-1].end_ns == pytest.approx(quiet, rel=0.02)
    lengths = [step.end_ns - step.start_ns for step in noisy[1:]]
    assert np.std(np.log(lengths)) == pytest.approx(0.3, rel=0.1)


def test_time_scale_stretches_every_step():
    plain = [step.end_ns for step in played(Engine(DEVICE), Sequence(0, 100, 20, 0))]
    slow = [step.end_ns for step in played(Engine(DEVICE, Settings(time_scale=3.0)), Sequence(0, 100, 20, 0))]
    assert np.allclose(np.array(slow) / np.array(plain), 3.0, rtol=1e-6)


def test_history_is_forgotten_but_not_what_is_still_needed(monkeypatch):
    monkeypatch.setattr("sweep.sim.decodes.HISTORY_STEPS", 64)
    engine = Engine(DEVICE)
    long, shorts = Sequence(0, 10, 2000, 0), [Sequence(n, 10, 5, 20 * n * MS) for n in range(1, 30)]
    steps = played(engine, long, *shorts)
    assert engine.progress(long)[0].tolist() == [step.end_ns for step in steps[:2000]]
