"""Which load comes next."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from curve_builder import plan, point

from sweep.curve.refine import next_level
from sweep.model import Plan, Point


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


@pytest.mark.parametrize("code", ["failures", "aborted", "no-success"])
def test_doubling_ends_where_failures_begin(code: str) -> None:
    def measure(level: float, repeat: int) -> Point:
        return point(level, repeat=repeat, output=100 * level, codes=(code,) if level >= 4 else ())

    assert walk(plan(), measure) == [(1, 0), (2, 0), (4, 0), (1, 1)]


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
