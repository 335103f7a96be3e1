"""Work that is not counted in tokens: computed as a prompt in the same queue, delivered at once."""

from __future__ import annotations

import pytest

from sweep import dialect
from sweep.model import Cell, Length, Limits, Load, Profile
from sweep.sim.virtual import Source
from sweep.sim.work import Work, work


def traits(name: str) -> dialect.Traits:
    return dialect.get(name).TRAITS


def test_tokens_are_made_one_a_step_other_units_come_at_once():
    assert work(traits("chat"), 100, 20) == Work(prompt=100, steps=20, units=1)
    assert work(traits("embeddings"), 100, 20) == Work(prompt=100, steps=1, units=20)
    assert work(traits("transcription"), 0, 30) == Work(prompt=1500, steps=1, units=30)
    assert work(traits("transcription"), 0, 30, 1000).prompt == 30_000


def answered(name: str, osl: int, *, slots: int = 1, **options: object):
    profile = Profile(name="jobs", title="", isl=Length(mean=64), osl=Length(mean=osl), dialect=name)
    load = Load(kind="closed", level=slots)
    cell = Cell(index=0, profile=profile, load=load, limits=Limits(), start="cold", seed=1)
    running = Source("synthetic-8b-bf16", **options).measure(cell)
    for batch in running:
        if len(batch.done) >= 4 * slots:
            running.abort()
            return batch.done.where(batch.done["outcome"] == "ok")
    raise AssertionError


def test_a_job_is_one_chunk_of_all_its_units():
    done = answered("transcription", 30)
    assert set(done["osl"]) == {30}
    assert set(done["chunks"]) == {1}
    assert (done["first_ns"] == done["last_ns"]).all()
    assert done.chunk_tokens.sum() == done["osl"].sum()


def test_a_unit_takes_its_time():
    took = {osl: int((d := answered("transcription", osl, unit_tokens=200))["end_ns"][0] - d["sent_ns"][0]) for osl in (30, 60)}
    assert took[60] == pytest.approx(2 * took[30], rel=0.1)


def test_jobs_share_the_queue():
    alone, together = (answered("transcription", 30, slots=slots) for slots in (1, 8))
    alone_ns, together_ns = (int((done["end_ns"] - done["sent_ns"]).max()) for done in (alone, together))
    assert together_ns > 4 * alone_ns


def test_a_job_may_give_less_than_was_asked_but_knows_no_stream_to_break():
    done = answered("embeddings", 10, faults=("early_stop=0.5", "truncated", "hung"))
    assert set(done["osl"]) == {10}
