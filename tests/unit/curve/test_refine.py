"""Which load comes next."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest
from curve_builder import ENDPOINT, plan, point

from sweep.curve.narrow import between
from sweep.curve.refine import levels_ahead, next_level, rival_tok_per_s
from sweep.model import Bound, BoundResult, Estimate, Plan, Point, Slo, SloResult


def walk(asked: Plan, measure: Callable[[float, int], Point], most: int = 40) -> list[tuple[float, int]]:
    """The order of a whole run on an endpoint that answers as `measure` says."""
    points: list[Point] = []
    order = []
    while (step := next_level(asked, points)) is not None:
        order.append((step.level, step.repeat))
        points.append(measure(step.level, step.repeat))
        assert len(order) < most
    return order


def test_a_grid_is_kept_in_its_order_a_pass_for_each_repeat() -> None:
    order = walk(plan(grid=(4.0, 1.0), repeats=2), lambda level, repeat: point(level, repeat=repeat))
    assert order == [(4, 0), (1, 0), (4, 1), (1, 1)]


def test_doubling_ends_where_the_interval_says_that_throughput_is_flat() -> None:
    order = walk(plan(), lambda level, repeat: point(level, repeat=repeat, output=100 * min(level, 16), spread=0.01))
    assert order == [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (1, 1)]


def test_a_wide_interval_asks_for_one_more_level() -> None:
    order = walk(plan(), lambda level, repeat: point(level, repeat=repeat, output=100 * min(level, 16), spread=0.1))
    assert order == [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (64, 0), (1, 1)]


def test_a_clear_fall_needs_no_second_look() -> None:
    rates = {1: 100, 2: 200, 4: 150}
    order = walk(plan(), lambda level, repeat: point(level, repeat=repeat, output=rates[level], spread=0.01))
    assert order == [(1, 0), (2, 0), (4, 0), (1, 1)]


def test_one_level_without_a_rise_may_be_noise_two_are_the_plateau() -> None:
    rates = {1: 100, 2: 99, 4: 300, 8: 301, 16: 302}
    order = walk(plan(), lambda level, repeat: point(level, repeat=repeat, output=rates[level]))
    assert order == [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (1, 1)]


@pytest.mark.parametrize("code", ["failures", "aborted", "no-success", "overloaded"])
def test_doubling_ends_where_failures_begin(code: str) -> None:
    def measure(level: float, repeat: int) -> Point:
        return point(level, repeat=repeat, output=100 * level, codes=(code,) if level >= 4 else ())

    assert walk(plan(), measure) == [(1, 0), (2, 0), (4, 0), (1, 1)]


def test_an_endpoint_that_fails_at_once_is_not_asked_again() -> None:
    assert walk(plan(repeats=3), lambda level, repeat: point(level, repeat=repeat, codes=("no-success",))) == [(1, 0)]


def test_doubling_ends_at_the_cap_and_measures_the_cap_itself() -> None:
    order = walk(plan(max_concurrency=6), lambda level, repeat: point(level, repeat=repeat, output=100 * level))
    assert order == [(1, 0), (2, 0), (4, 0), (6, 0), (1, 1)]


def test_repeats_come_as_passes_and_the_drift_check_last() -> None:
    order = walk(plan(max_concurrency=2, repeats=2), lambda level, repeat: point(level, repeat=repeat, output=100 * level))
    assert order == [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]


def test_a_resumed_run_goes_on_where_any_prefix_stopped() -> None:
    measured = [point(level, output=100 * min(level, 8), spread=0.1) for level in (1, 2, 4, 8, 16, 32)]
    steps = [next_level(plan(), measured[:done]) for done in range(len(measured))]
    assert [step.level for step in steps if step] == [1, 2, 4, 8, 16, 32]
    shuffled = [measured[place] for place in (3, 0, 2, 1)]
    assert next_level(plan(), shuffled) == steps[4]


def test_a_load_kind_without_a_level_is_measured_once_and_checked() -> None:
    assert walk(plan(kind="offline"), lambda level, repeat: point(level, repeat=repeat)) == [(1, 0), (1, 1)]


TIGHT = Slo(name="tight", bounds=(Bound(metric="ttft", limit_s=0.5, quantile=0.99),))


def judged(level: float, highest: float) -> tuple[SloResult, ...]:
    verdict = "met" if level <= highest else "missed"
    unknown = Estimate(value=None)
    return (
        SloResult(
            slo="tight",
            good=0,
            cohort=0,
            attainment=unknown,
            goodput_req_per_s=unknown,
            goodput_tok_per_s=unknown,
            verdict=verdict,
            bounds=(),
        ),
    )


@pytest.mark.parametrize("highest", [1, 45, 100, 127])
def test_the_highest_load_meeting_an_slo_is_bracketed_to_three_percent(highest: int) -> None:
    def measure(level: float, repeat: int) -> Point:
        # one vertex, so that no gap of the frontier asks for cells
        slower = 1 + level / 1e6
        return point(level, repeat=repeat, output=100 + level * 1e3, latency=0.01 / slower, slos=judged(level, highest))

    order = walk(plan(slos=(TIGHT,), refine=20, max_concurrency=128), measure)
    tried = sorted(level for level, repeat in order if repeat == 0)
    best = max(level for level in tried if level <= highest)
    above = min(level for level in tried if level > highest)
    assert above <= best * 1.03 or above == best + 1
    assert len(tried) <= 8 + 6


@pytest.mark.parametrize("highest", [0, 1000])
def test_an_slo_that_every_load_meets_or_none_asks_for_no_other_load(highest: int) -> None:
    def measure(level: float, repeat: int) -> Point:
        return point(level, repeat=repeat, output=100 + 50 * level, latency=0.01 / level, slos=judged(level, highest))

    order = walk(plan(slos=(TIGHT,), refine=20, max_concurrency=4), measure)
    assert order == [(1, 0), (2, 0), (4, 0), (4, 1), (1, 1)]


def test_vertices_are_confirmed_with_fresh_prompts_the_load_that_meets_an_slo_first() -> None:
    def measure(level: float, repeat: int) -> Point:
        slower = 1 + level / 1e3
        return point(level, repeat=repeat, output=100 * level**0.1, latency=0.01 * slower, slos=judged(level, 2))

    order = walk(plan(slos=(TIGHT,), refine=20, max_concurrency=8), measure)
    assert order == [(1, 0), (2, 0), (4, 0), (8, 0), (3, 0), (2, 1), (3, 1), (4, 1), (8, 1), (1, 1)]


def busy(level: float, repeat: int, seconds: float = 60.0) -> Point:
    return point(level, repeat=repeat, output=100 * level**0.8, latency=0.01 * level**0.5, busy_s=seconds)


def test_without_a_budget_refinement_may_take_as_long_as_the_doubling() -> None:
    order = walk(plan(refine=50, max_concurrency=64), busy)
    assert len(order) == 2 * 7
    assert order[-1] == (1, 1)


def test_a_budget_ends_the_sweep_and_keeps_time_for_the_last_cell() -> None:
    assert len(walk(plan(refine=50, max_concurrency=64, budget_s=600.0), busy)) == 10
    order = walk(plan(refine=50, max_concurrency=64, budget_s=150.0), busy)
    assert order == [(1, 0), (2, 0), (4, 0)]
    assert walk(plan(grid=(1.0, 2.0, 4.0), budget_s=100.0), busy) == [(1, 0), (2, 0)]


def test_what_a_budget_must_last_for() -> None:
    grid = plan(grid=(1.0, 2.0, 4.0), repeats=2)
    step = next_level(grid, [busy(1.0, 0)])
    assert step is not None
    assert levels_ahead(grid, [busy(1.0, 0)], step) == (4, 1, 2, 4)
    first = next_level(plan(max_concurrency=8), [])
    assert first is not None
    assert levels_ahead(plan(max_concurrency=8), [], first) == (2, 4, 8, 1)
    last = next_level(plan(max_concurrency=1), [busy(1.0, 0)])
    assert last is not None
    assert levels_ahead(plan(max_concurrency=1), [busy(1.0, 0)], last) == ()


def test_no_cell_is_begun_that_the_budget_cannot_give_its_shortest_time() -> None:
    fast = msgspec.structs.replace(ENDPOINT, ttft_s=0.01, tpot_s=0.0001)
    asked = plan(grid=(1.0, 2.0, 4.0), budget_s=100.0)
    left = {took_s: next_level(asked, [busy(1.0, 0, took_s)], fast) for took_s in (60.0, 90.0, 100.0)}
    assert [step and step.level for step in left.values()] == [2, None, None]
    assert next_level(asked, [busy(1.0, 0, 90.0)]) is not None, "of an unknown pace a cell may be short"


def test_wide_gaps_are_split_within_the_budget() -> None:
    def measure(level: float, repeat: int) -> Point:
        return point(level, repeat=repeat, output=100 * level**0.8, latency=0.01 * level**0.5)

    full = walk(plan(refine=50, max_concurrency=64), measure)
    levels = sorted(level for level, repeat in full if repeat == 0)
    assert all(high - low == 1 or (high / low) ** 0.8 <= 1.285 for low, high in pairwise(levels))
    three = walk(plan(refine=3, max_concurrency=64), measure)
    assert three == [*full[: 7 + 3], (1, 1)]


def test_undecided_loads_are_bracketed_by_their_shares() -> None:
    def measure(level: float, repeat: int) -> Point:
        bound = Bound(metric="ttft", limit_s=0.5, quantile=0.99)
        share = Estimate(value=1.0 if level <= 40 else 0.9, low=0.8, high=1.0)
        one = BoundResult(bound=bound, share=share, verdict="undecided")
        results = tuple(msgspec.structs.replace(each, verdict="undecided", bounds=(one,)) for each in judged(level, 0))
        return point(level, repeat=repeat, output=100 + level * 1e3, latency=0.01 / (1 + level / 1e6), slos=results)

    order = walk(plan(slos=(TIGHT,), refine=20, max_concurrency=128), measure)
    assert {(40, 0), (41, 0)} <= set(order)


def test_a_level_between_exists_only_where_one_does() -> None:
    assert between(4, 16, whole=True) == 8
    assert between(4, 5, whole=True) is None
    assert between(4, 6, whole=True) == 5
    assert between(1.0, 2.0, whole=False) == 1.41


def test_a_load_is_outdone_by_what_smaller_ones_are_sure_to_deliver() -> None:
    points = [point(1, output=100), point(2, output=200, spread=0.1), point(4, output=400, spread=0.1, disqualified=True)]
    assert rival_tok_per_s(plan(), points, 8) == pytest.approx(180)
    assert rival_tok_per_s(plan(), points, 2) is None  # without an interval nothing is sure
    assert rival_tok_per_s(plan(grid=(1.0, 2.0, 8.0)), points, 8) is None
    assert rival_tok_per_s(plan(kind="poisson"), points, 8) is None
