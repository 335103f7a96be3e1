"""The arithmetic of a self-test, on records whose stamps are wrong by known amounts."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from sweep.model import Calibration, Cell, Endpoint, Frontier, Length, Limits, Load, Profile, Vertex, Window
from sweep.records import Records, from_rows
from sweep.selftest import compare, truth
from sweep.selftest.nouns import LoadResult, Spread
from sweep.selftest.truth import TruthRow

MS = 1_000_000
RUN = "feed"
ENDPOINT = Endpoint(
    url="http://x/v1",
    model="synthetic-8b-bf16",
    dialect="completions",
    calibration=Calibration(tokens_per_word=1, template_tokens=0, source="usage"),
)
CELL = Cell(
    index=0,
    profile=Profile(name="p", title="", isl=Length(mean=8), osl=Length(mean=5)),
    load=Load(kind="closed", level=1),
    limits=Limits(),
    start="cold",
    seed=0,
)
WINDOW = Window(begin_ns=0, end_ns=3000 * MS, begin_reason="", end_reason="duration")


def sent_at(number: int) -> int:
    return number * 100 * MS


def written(number: int) -> list[int]:
    """First token after 20 ms and a little more each time, then one every 10 ms."""
    return [sent_at(number) + (20 + number % 7 + 10 * k) * MS for k in range(5)]


def served(requests: int = 30, send_ns: int = 20_000) -> dict[int, TruthRow]:
    return {
        number: TruthRow(
            id=f"{number}-{RUN}",
            arrival_ns=sent_at(number) + 50_000,
            step_ns=[at - 300_000 for at in written(number)],
            write_ns=written(number),
            written_ns=[at + send_ns for at in written(number)],
            write_tokens=[1] * 5,
        )
        for number in range(requests)
    }


def seen(late_ns: int = 0, requests: int = 30, chunks: int = 5) -> Records:
    """The client's records, every stamp so late after the write began."""
    rows = []
    for number in range(requests):
        stamps = [at + late_ns for at in written(number)][:chunks]
        rows.append(
            {
                "cell": 0, "repeat": 0, "request": number, "worker": 0, "phase": "measured", "planned_ns": sent_at(number),
                "sent_ns": sent_at(number), "first_ns": stamps[0], "first_answer_ns": stamps[0], "last_ns": stamps[-1],
                "end_ns": stamps[-1], "isl_asked": 8, "isl": 8, "osl_asked": 5, "osl": 5, "token_source": "usage",
                "first_tokens": 1, "chunks": chunks, "max_gap_ns": 10 * MS, "retries": 0, "outcome": "ok", "status": 200,
                "chunk_ns": stamps, "chunk_tokens": [1] * chunks,
            }
        )  # fmt: skip
    return from_rows(rows)


def result(records: Records, rows: dict[int, TruthRow] | None = None) -> LoadResult:
    load, _, _ = compare.load_result(CELL, truth.join(records, rows or served()), WINDOW, None, ENDPOINT)
    return load


def test_a_stamp_within_the_send_is_exact_and_the_send_bounds_its_error():
    load = result(seen(late_ns=15_000))
    assert load.exact
    assert load.requests == 30
    assert (load.ttft_error_s.p50, load.token_error_s.max) == pytest.approx((15e-6, 15e-6))
    assert load.beyond_s.max == 0
    assert set(load.figure_errors.values()) == {0.0}


def test_what_comes_after_the_send_is_the_clients():
    load = result(seen(late_ns=2 * MS))
    assert not load.exact
    assert load.beyond_s.p50 == pytest.approx(1.98e-3)
    assert load.figure_errors["ttft_p50_s"] == pytest.approx(1.98 / 23.02, rel=1e-3)
    assert load.figure_errors["tpot_p50_s"] == 0
    assert load.worst[0] in ("goodput_req_per_s", "ttft_p50_s")


def test_goodput_can_be_wrong():
    load = result(seen(late_ns=5 * MS))
    assert load.figure_errors["goodput_req_per_s"] < -0.1


def test_the_endpoints_own_lateness_is_apart():
    load = result(seen(), served(send_ns=0))
    assert load.exact
    assert load.server_late_s.p50 == pytest.approx(300e-6)
    assert load.arrival_s.max == pytest.approx(50e-6)


def test_a_lost_token_or_an_unknown_request_is_unmatched():
    assert result(seen(chunks=4)).unmatched == 30
    rows = served()
    del rows[3]
    load = result(seen(), rows)
    assert load.unmatched == 1
    assert not load.exact


def test_a_stamp_before_the_send_is_noticed():
    load = result(seen(late_ns=-1000))
    assert load.early == 150
    assert not load.exact


def test_a_cut_request_keeps_the_chunks_it_had():
    records = seen(chunks=3)
    outcome = records["outcome"].copy()
    outcome[:] = "cut"
    joined = truth.join(records.replace(outcome=outcome), served())
    assert joined.unmatched == 0
    assert len(joined.truth.chunk_ns) == 90


def test_rows_of_other_runs_are_not_ours():
    log = b"".join(msgspec.json.encode(row) + b"\n" for row in served(3).values())
    assert sorted(truth.rows_of(log, RUN)) == [0, 1, 2]
    assert truth.rows_of(log, "other") == {}
    with pytest.raises(ValueError, match="malformed"):
        truth.rows_of(b"<html>", RUN)


def line(*places: tuple[float, float]) -> Frontier:
    return Frontier(
        axis="output/interactivity",
        x="tpot_s.p50",
        y="output_tok_per_s",
        x_label="",
        y_label="",
        statistic="p50",
        vertices=tuple(Vertex(x=x, y=y, points=(str(n),)) for n, (x, y) in enumerate(places)),
        dominated=(),
        surely_dominated=(),
        dropped=(),
    )


def test_the_error_of_a_frontier_is_the_stretch_that_covers_it():
    true = line((10, 100), (20, 50))
    assert compare.frontier_error(true, true) == 0
    assert compare.frontier_error(line((10, 98), (20, 50)), true) == pytest.approx(100 / 98 - 1)
    assert compare.frontier_error(line((10, 102), (20, 50)), true) == pytest.approx(0.02)
    assert compare.frontier_error(line((10, 100)), true) == pytest.approx(1.0)
    assert compare.frontier_error(line((10, 100), (19.9, 50.1), (20, 50)), true) == pytest.approx(0.002)
    assert compare.frontier_error(line(), true) is None


def load_at(tok_per_s: float, exact: bool, streams: int = 1) -> LoadResult:
    none = Spread(n=0)
    return LoadResult(
        preset="p", streams=streams, requests=1, tok_per_s=tok_per_s, ttft_error_s=none, token_error_s=none, beyond_s=none,
        figure_errors={}, unmatched=0, early=0, server_late_s=none, arrival_s=none, stamps=None, cpu_share=None, exact=exact,
    )  # fmt: skip


def test_exact_up_to_the_first_load_that_is_not():
    loads = [load_at(4000, True), load_at(10, True), load_at(100, True), load_at(1000, False)]
    assert compare.highest_exact(loads).tok_per_s == 100
    assert compare.highest_exact([load_at(10, False)]) is None


def test_fit_means_exact_at_few_streams():
    assert compare.is_fit([load_at(10, True), load_at(9000, False, streams=256)])
    assert not compare.is_fit([load_at(10, True), load_at(600, False, streams=16)])
    assert not compare.is_fit([])


def test_missing_figures_are_no_error_but_are_not_exact():
    assert compare.relative(None, 1.0) is None
    assert compare.relative(0.0, 0.0) == 0.0
    assert compare.relative(1.0, 0.0) is None
    assert compare.is_exact({"a": 0.01}, 0)
    assert not compare.is_exact({"a": None}, 0)
    assert not compare.is_exact({"a": 0.0}, 1)


def test_spread_is_of_observed_magnitudes():
    spread = compare.spread(np.array([-3, 1, 2, 4], np.int64) * MS)
    assert (spread.n, spread.p50, spread.p99, spread.max) == (4, 2e-3, 4e-3, 4e-3)
    assert compare.spread(np.empty(0, np.int64)).max is None
