from __future__ import annotations

import numpy as np
import pytest

from sweep.errors import UsageError
from sweep.model import Cell, Length, Limits, Load, Profile
from sweep.plan.start import begun_mid_flight
from sweep.records import Records, concat
from sweep.sim.running import REPORT_NS, Running
from sweep.sim.virtual import Source

PRESET = "synthetic-8b-bf16"
S = 1_000_000_000


def cell(kind="closed", level=16.0, isl=1024, osl=1024, *, seed=1, first=0, prefix_share=0.0, **limits) -> Cell:
    """Lengths U[0.8·L, L]."""
    profile = Profile(
        name="p",
        title="",
        isl=Length(max=isl, range_ratio=0.8),
        osl=Length(max=osl, range_ratio=0.8),
        prefix_share=prefix_share,
    )
    limits = {"idle_timeout_s": 1e6, "deadline_s": 1e6} | limits
    load = Load(kind=kind, level=level)
    return Cell(
        index=3, profile=profile, load=load, limits=Limits(**limits), start="cold", seed=seed, repeat=2, first_request=first
    )


def measured(running: Running, requests: int, *, abort: bool = False) -> Records:
    """Everything that ended, the load being taken off, or all being cut, after so many requests."""
    done: list[Records] = []
    told = False
    for batch in running:
        done.append(batch.done)
        if not told and sum(map(len, done)) >= requests:
            told = True
            running.abort() if abort else running.finish(batch.at_ns)
    return concat(done)


def ok(records: Records) -> Records:
    return records.where(records["outcome"] == "ok")


# --- against figures of another program (SIMULATOR: closed loop, cold start) -------------------------------------------


@pytest.mark.parametrize(
    ("preset", "isl", "osl", "slots", "tok_per_s"),
    [
        ("synthetic-8b-bf16", 1024, 1024, 1, 171),
        ("synthetic-120b-moe", 8192, 1024, 64, 1660),
        ("synthetic-70b-fp8", 8192, 1024, 256, 392),
        ("synthetic-70b-fp8", 1024, 8192, 64, 1324),
        ("synthetic-70b-fp8", 1024, 8192, 256, 1215),
    ],
)
def test_closed_loop_throughput_is_that_of_the_reference(preset, isl, osl, slots, tok_per_s):
    records = measured(Source(preset).measure(cell("closed", slots, isl, osl)), round(2.5 * slots) + 1, abort=True)
    ends = np.sort(ok(records)["end_ns"])
    begin, end = ends[max(0, slots // 2 - 1)], ends[int(2.5 * slots) - 1]
    inside = (records.chunk_ns > begin) & (records.chunk_ns <= end)
    assert records.chunk_tokens[inside].sum() / ((end - begin) / 1e9) == pytest.approx(tok_per_s, rel=0.04)


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "level"), [("closed", 32), ("poisson", 2.0), ("constant", 2.0)])
def test_littles_law(kind, level):
    records = ok(measured(Source(PRESET).measure(cell(kind, level, osl=256)), 700))
    sent, ended = records["sent_ns"], records["end_ns"]
    begin, end = np.sort(ended)[80], np.sort(sent)[-80]
    inside = (sent >= begin) & (sent < end)
    present = np.clip(np.minimum(ended, end) - np.maximum(sent, begin), 0, None).sum() / (end - begin)
    arriving = inside.sum() / (end - begin)
    assert present == pytest.approx(arriving * (ended - sent)[inside].mean(), rel=0.01)
    if kind == "closed":
        assert present == pytest.approx(level, rel=1e-6)


def test_twice_the_same_is_the_same_bit_for_bit():
    def run(seed: int) -> list[list[object]]:
        source = Source(PRESET, faults=("truncated=0.1", "hung=0.02"), noise=0.1, draft_tokens=2)
        found = measured(source.measure(cell("poisson", 4.0, osl=64, seed=seed, idle_timeout_s=10.0)), 60)
        return [column.tolist() for column in (*found.columns.values(), found.chunk_start, found.chunk_ns, found.chunk_tokens)]

    assert run(1) == run(1)
    assert run(1) != run(2)


# --- as the real load would return it ----------------------------------------------------------------------------------


def test_every_request_ends_exactly_once_and_open_ones_are_seen():
    running = Source(PRESET).measure(cell("closed", 8, osl=512, first=100))
    done: list[int] = []
    last_ns = running.started_ns
    for batch in running:
        assert batch.at_ns - last_ns >= REPORT_NS or batch.last
        last_ns = batch.at_ns
        assert batch.open["outcome"].tolist() == [None] * len(batch.open)
        assert not set(done) & set(batch.open["request"].tolist())
        done += batch.done["request"].tolist()
        assert len(batch.open) == (0 if batch.last else 8)
        if len(done) >= 20:
            running.finish(batch.at_ns)
    assert sorted(done) == list(range(100, 100 + len(done)))


def test_who_was_sent_before_the_end_is_not_cut():
    running = Source(PRESET).measure(cell("closed", 8, osl=256))
    end_ns = running.started_ns + 5_000_000_000
    running.finish(end_ns)
    records = concat([batch.done for batch in running])
    cut = records["outcome"] == "cut"
    assert (records["sent_ns"][cut] >= end_ns).all()
    assert (records["sent_ns"][~cut] < records["end_ns"][~cut]).all()
    assert 0 < cut.sum() <= 8
    assert records["end_ns"].max() == records["end_ns"][records["sent_ns"] < end_ns].max()


def test_an_abort_cuts_everything_now():
    running = Source(PRESET).measure(cell("closed", 8))
    batches = []
    for batch in running:
        batches.append(batch)
        running.abort()
    assert len(batches) == 2
    assert batches[-1].last
    assert batches[-1].at_ns == batches[0].at_ns
    assert batches[-1].done["outcome"].tolist() == ["cut"] * 8


def test_rows_say_what_a_client_sees():
    records = ok(measured(Source(PRESET, draft_tokens=3, reasoning=0.5).measure(cell("poisson", 3.0, osl=64)), 50))
    assert (records["planned_ns"] == records["sent_ns"]).all()
    assert (records["sent_ns"] < records["first_ns"]).all()
    assert (records["first_ns"] < records["first_answer_ns"]).all()
    assert (records["first_answer_ns"] < records["last_ns"]).all()
    assert (records["last_ns"] == records["end_ns"]).all()
    assert (records["isl"] == records["isl_asked"]).all()
    assert (records["osl"] == records["osl_asked"]).all()
    assert (np.diff(records.chunk_start) == records["chunks"]).all()
    assert np.add.reduceat(records.chunk_tokens, records.chunk_start[:-1]).tolist() == records["osl"].tolist()
    assert (records["chunks"] < records["osl"]).all()
    assert set(records["token_source"]) == {"usage"}
    assert set(records["cell"]) == {3}
    assert set(records["repeat"]) == {2}


def test_arrivals_are_those_of_the_plan():
    from sweep.plan.arrival import offsets_ns

    asked = cell("poisson", 5.0, osl=32)
    running = Source(PRESET).measure(asked)
    records = measured(running, 40)
    order = np.argsort(records["request"])
    due = offsets_ns(asked.load, asked.seed, 0, len(records))
    assert (records["planned_ns"][order] - running.started_ns == due).all()


@pytest.mark.parametrize(
    ("fault", "outcome", "status"),
    [
        ("rate_limited", "rate_limited", 429),
        ("unavailable", "http_error", 503),
        ("error_event", "stream_error", 200),
        ("truncated", "truncated", 200),
        ("reset", "truncated", 200),
        ("hung", "timeout_idle", None),
        ("early_stop", "wrong_length", 200),
    ],
)
def test_a_fault_becomes_the_outcome_a_client_sees(fault, outcome, status):
    source = Source(PRESET, faults=(f"{fault}=0.3",))
    records = measured(source.measure(cell("poisson", 20.0, osl=64, idle_timeout_s=5.0)), 300)
    struck = records["outcome"] == outcome
    assert 0.15 < struck.mean() < 0.45
    assert set(records["outcome"]) == {"ok", outcome, "cut"} or set(records["outcome"]) == {"ok", outcome}
    if status:
        assert set(records["status"][struck]) == {status}
    assert records.present("retry_after_s").tolist() == (struck & (status == 429)).tolist()


def test_what_waits_too_long_is_given_up():
    records = measured(Source(PRESET).measure(cell("closed", 64, isl=8192, osl=64, idle_timeout_s=4.0)), 200)
    late = records.where(records["outcome"] == "timeout_idle")
    assert len(late)
    assert not late.present("first_ns").any()
    assert ((late["end_ns"] - late["sent_ns"]) == 4_000_000_000).all()


def test_a_prompt_beyond_memory_is_refused():
    records = measured(Source("synthetic-70b-fp8").measure(cell("closed", 1, isl=400_000, osl=8)), 3)
    assert set(records["outcome"][:3]) == {"http_error"}


def test_a_shared_prefix_is_cached():
    records = ok(measured(Source(PRESET, prefix_cache=True).measure(cell("closed", 4, osl=32, prefix_share=0.5)), 40))
    share = records["cached_tokens"].sum() / records["isl"].sum()
    assert share == pytest.approx(0.5, abs=0.06)


def test_apart_prefill_never_delays_decode():
    def worst_gap(**options) -> float:
        records = ok(measured(Source(PRESET, **options).measure(cell("poisson", 1.0, isl=8192, osl=256)), 25))
        return float(records["max_gap_ns"].max()) / 1e9

    assert worst_gap() > 0.25
    assert worst_gap(disaggregated=True, link_gb_per_s=50.0) < 0.06


def test_a_slower_link_is_a_longer_second_token():
    def second_token(gb_per_s: float) -> float:
        source = Source(PRESET, disaggregated=True, link_gb_per_s=gb_per_s)
        records = ok(measured(source.measure(cell("closed", 1, isl=4096, osl=32)), 5))
        return float(records["max_gap_ns"].max()) / 1e9

    kv_gb = 4096 * 131_072 / 1e9
    assert second_token(1.0) - second_token(10.0) == pytest.approx(kv_gb * 0.9, rel=0.1)


def test_a_load_without_a_virtual_form_is_refused():
    with pytest.raises(UsageError):
        Source(PRESET).measure(cell("offline", 1))


def test_the_probe_knows_the_endpoint():
    endpoint = Source("synthetic-70b-fp8").probe("completions")
    assert endpoint.simulated == "synthetic-70b-fp8"
    assert endpoint.dialect == "completions"
    assert endpoint.tpot_s == pytest.approx(0.0229, rel=0.01)
    assert Source(PRESET).reachable()


def test_an_equilibrium_start_has_no_ramp_and_no_lockstep() -> None:
    """Throughput from the last warm request's first token on is that of the long run."""
    profile = Profile(name="p", title="", isl=Length(mean=256), osl=Length(mean=256))
    cell = Cell(index=0, profile=profile, load=Load(kind="closed", level=16), limits=Limits(), start="equilibrium", seed=3)
    running = Source("synthetic-8b-bf16").measure(cell)
    parts = []
    for batch in running:
        parts.append(batch.done)
        if batch.at_ns > 30 * S:
            running.abort()
    found = concat(parts)
    warm = found.where(found["request"] < 16)
    begin_ns = int(warm["first_ns"].max())
    assert len(warm) == 16
    assert (warm["isl_asked"] + warm["osl_asked"] == 512).all()
    assert begin_ns < S + S
    early = ((found.chunk_ns > begin_ns) & (found.chunk_ns <= begin_ns + 4 * S)).sum() / 4
    long = ((found.chunk_ns > begin_ns) & (found.chunk_ns <= begin_ns + 24 * S)).sum() / 24
    assert early == pytest.approx(long, rel=0.01)
    assert sorted(found["request"]) == list(range(len(found)))


def test_an_equilibrium_start_that_meets_a_full_batch_goes_on_with_whole_requests() -> None:
    profile = Profile(name="p", title="", isl=Length(mean=256), osl=Length(mean=256))
    cell = Cell(index=0, profile=profile, load=Load(kind="closed", level=48), limits=Limits(), start="equilibrium", seed=3)
    running = Source(PRESET, max_num_seqs=16).measure(cell)
    parts = []
    for batch in running:
        parts.append(batch.done)
        if batch.at_ns > 20 * S:
            running.abort()
    found = concat(parts)
    begun = begun_mid_flight(cell, found["request"], found["isl_asked"], found["osl_asked"])
    assert 16 <= begun <= 32
    assert len(found.where(found["request"] < 48)) == 48
