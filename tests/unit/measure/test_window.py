"""Where the window begins and ends, against closed loops whose slots are known."""

from __future__ import annotations

import numpy as np
import pytest
from unit.measure.synthetic import S, answer, cell, closed, closed_rows

from sweep import records
from sweep.measure.window import place, with_phases


def second_completion(rows, owner) -> int:
    ends: dict[int, list[int]] = {}
    for row, slot in zip(rows, owner, strict=True):
        ends.setdefault(slot, []).append(row["end_ns"])
    return max(sorted(each)[1] for each in ends.values())


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("fail", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_cold_window_begins_with_every_slots_second_completion(workers, fail, seed):
    rows, owner = closed_rows(8, 20 * S, seed=seed, workers=workers, fail=fail)
    order = np.random.default_rng(seed).permutation(len(rows))
    window = place(cell(level=8, duration_s=5.0), records.from_rows([rows[i] for i in order]), 15 * S)
    assert window is not None
    assert window.begin_ns == second_completion(rows, owner)
    assert window.end_ns == 15 * S


def test_slots_freed_by_one_read_are_exchangeable():
    rows = [answer(i, 0, osl=4, ttft_ns=S) for i in range(3)]
    rows += [answer(3 + i, rows[0]["end_ns"] + 10 + i, osl=4, ttft_ns=S + i) for i in range(3)]
    window = place(cell(level=3, duration_s=1.0), records.from_rows(rows), 60 * S)
    assert window is not None
    assert window.begin_ns == max(row["end_ns"] for row in rows)


def test_no_window_while_a_slot_has_not_completed_twice():
    rows, owner = closed_rows(4, 20 * S)
    begin_ns = second_completion(rows, owner)
    assert place(cell(), records.from_rows(rows), begin_ns) is None
    assert place(cell(), records.from_rows(rows), begin_ns - 1) is None
    assert place(cell(), records.from_rows(rows), begin_ns + 1) is not None


def test_nothing_after_now_moves_the_window():
    found = closed(6, 30 * S, seed=3)
    now_ns = 12 * S
    past = found.where(found["sent_ns"] < now_ns)
    assert place(cell(level=6), past, now_ns) == place(cell(level=6), found, now_ns)


def test_slots_that_are_never_in_flight_together_do_not_hold_the_window_up():
    found = closed(4, 20 * S)
    early = place(cell(level=4, duration_s=1.0), found, 20 * S)
    window = place(cell(level=5, duration_s=1.0), found, 20 * S)
    assert early is not None
    assert window is not None
    assert window.begin_ns == max(early.begin_ns, np.sort(found["end_ns"][found["end_ns"] > 3 * S // 50])[4 * 5 - 1])
    assert place(cell(level=5), found, window.begin_ns) is None


def test_an_equilibrium_start_is_steady_at_the_last_warm_requests_first_token():
    rows, owner = closed_rows(4, 20 * S)
    warm = [row for i, row in enumerate(rows) if owner[i] not in owner[:i]]
    window = place(cell(start="equilibrium", duration_s=5.0), records.from_rows(rows), 10 * S)
    assert window is not None
    assert window.begin_ns == max(row["first_ns"] for row in warm)


def test_a_cell_at_its_cap_is_placed_from_the_steadiest_moment_it_had():
    rows = [answer(i, i, osl=100, tpot_ns=S // 10) for i in range(2)]
    found = records.from_rows(rows)
    at_first_tokens = place(cell(level=2, cap_s=5.0), found, 5 * S + 2)
    assert at_first_tokens is not None
    assert at_first_tokens.begin_ns == max(row["first_ns"] for row in rows)
    at_first_ends = place(cell(level=2, cap_s=12.0), found, 12 * S + 2)
    assert at_first_ends is not None
    assert at_first_ends.begin_ns == max(row["end_ns"] for row in rows)
    assert place(cell(level=2, cap_s=100.0), found, 12 * S) is None


def test_an_open_loop_begins_after_its_p99_latency():
    rows = [answer(i, i * S // 10, ttft_ns=S + i * 1000, osl=1) for i in range(200)]
    took = sorted(row["end_ns"] - row["planned_ns"] for row in rows)
    window = place(cell("poisson", 10.0, duration_s=5.0), records.from_rows(rows), 60 * S)
    assert window is not None
    assert window.due == "planned_ns"
    assert window.begin_ns == took[197]  # the 198th of 200 covers 99 %


def test_mser_moves_the_begin_past_a_transient_and_a_demanded_length_forbids_it():
    rows, _ = closed_rows(4, 60 * S, osl=4)
    for row in rows:
        if row["sent_ns"] < 8 * S:
            row["first_ns"] -= S // 25
    found = records.from_rows(rows)
    plain = place(cell(duration_s=5.0), found, 40 * S)
    moved = place(cell(), found, 40 * S)
    assert plain is not None
    assert moved is not None
    assert plain.begin_ns < 2 * S
    assert 7 * S < moved.begin_ns < 9 * S
    assert "MSER" in moved.begin_reason


def test_phases_follow_the_due_time():
    rows = [answer(i, i * S) for i in range(10)]
    rows.append({"request": 10, "planned_ns": 4 * S, "end_ns": 5 * S, "outcome": "connect"})
    rows.append({"request": 11, "planned_ns": 4 * S, "end_ns": 7 * S, "outcome": "unsent"})  # its connection was slow to come
    found = records.from_rows(rows)
    window = place(cell(level=1, duration_s=1.0), found, 6 * S)
    assert window is not None
    phases = with_phases(found, window)["phase"].tolist()
    assert phases == ["warmup"] * 2 + ["measured"] * 4 + ["filler"] * 4 + ["measured", "filler"]
    assert set(with_phases(found, None)["phase"]) == {"warmup"}
