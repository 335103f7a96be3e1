"""One mean ratio of two frontiers, against PyPI's bjontegaard and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparable import LEVELS, dressed, frontier_of, side
from curve_builder import point

from sweep.curve.compare import crossings, fan, gain, together
from sweep.curve.compare.nouns import Gain
from sweep.model import Curve, Vertex

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "bjontegaard.json").read_text())


def fan_of(curve: dict[str, Any]) -> fan.Fan:
    return fan.fan(np.log([curve["x"]]), np.log([curve["y"]]))


def vertices(*places: tuple[float, float]) -> tuple[Vertex, ...]:
    return tuple(Vertex(x=x, y=y, points=()) for x, y in places)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{len(case['a']['x'])}-{len(case['b']['x'])}")
def test_gain_is_that_of_bjontegaard(case: dict[str, Any]) -> None:
    """The file says how it was made."""
    assert np.exp(gain.mean_ln_ratio(fan_of(case["a"]), fan_of(case["b"])))[0] == pytest.approx(case["gain"], rel=1e-9)


def test_a_curve_ten_percent_above_another_gains_ten_percent_everywhere() -> None:
    low, high = {"x": [5, 20, 60], "y": [900, 500, 80]}, {"x": [5, 20, 60], "y": [990, 550, 88]}
    assert np.exp(gain.mean_ln_ratio(fan_of(high), fan_of(low)))[0] == pytest.approx(1.1)
    shape = gain.shape(fan_of(high), fan_of(low), (5, 60), 0.03)
    assert (shape.share_won, shape.share_lost, shape.crossings) == (1.0, 0.0, ())
    assert shape.best[1] == pytest.approx(shape.worst[1]) == pytest.approx(1.1)


def test_two_straight_lines_in_logs_cross_where_they_must() -> None:
    falling, flat = {"x": [1, 100], "y": [1000, 10]}, {"x": [1, 100], "y": [200, 50]}  # y = 1000/x and 200·x^-0.301
    shape = gain.shape(fan_of(falling), fan_of(flat), (1, 100), 0.03)
    crossing = np.exp(np.log(5) / (1 - np.log(4) / np.log(100)))
    assert shape.crossings == (pytest.approx(crossing, rel=1e-9),)
    assert shape.best == (pytest.approx(1), pytest.approx(5))
    assert shape.worst == (pytest.approx(100), pytest.approx(0.2))
    assert shape.share_won == pytest.approx(
        np.log(crossing / 1.03 ** (1 / (1 - np.log(4) / np.log(100)))) / np.log(100), abs=1e-3
    )


def test_the_bracket_is_what_any_curve_through_the_measurements_may_be() -> None:
    a, b = vertices((10, 400), (40, 100)), vertices((10, 200), (20, 150), (40, 50))
    least, most = gain.bracket(a, b, (10, 40))
    assert least == pytest.approx(np.exp((np.log(100 / 200) + np.log(100 / 150)) / 2))
    assert most == pytest.approx(np.exp((np.log(400 / 150) + np.log(400 / 50)) / 2))


def test_curves_without_a_common_stretch_have_no_gain() -> None:
    assert np.isnan(gain.mean_ln_ratio(fan_of({"x": [1, 2], "y": [9, 8]}), fan_of({"x": [3, 4], "y": [9, 8]})))[0]
    assert np.isnan(gain.mean_ln_ratio(fan_of({"x": [2], "y": [9]}), fan_of({"x": [1, 4], "y": [9, 8]})))[0]


def crossing(latency: float, spread: float) -> Gain:
    """Against an endpoint that is slower where few are served and brings more where many are: one crossing in the middle."""
    a, b = side("a", spread=spread), tilted("b", latency, spread)
    return together.compare([a, b], draws=500).gains[0]


def tilted(name: str, by: float, spread: float) -> Curve:
    points = []
    for cell, level in enumerate(LEVELS):
        output, latency = frontier_of(level)
        lean = by ** (cell / (len(LEVELS) - 1) - 0.5)
        points.append(point(level, cell=cell, output=output * lean, latency=latency, spread=spread))
    return dressed(name, points)


def test_a_crossing_is_told_where_both_sides_of_it_are_sure() -> None:
    found = crossing(1.4, 0.01)
    assert len(found.crossings) == 1
    assert found.sure_crossings == found.crossings


def test_a_crossing_that_intervals_can_explain_is_not_told() -> None:
    found = crossing(1.4, 0.4)
    assert len(found.crossings) == 1
    assert found.sure_crossings == ()


def test_a_crossing_between_equivalent_curves_is_not_told() -> None:
    """Surely ahead by 1 % here and by 1 % there: too little to decide a purchase."""
    found = crossing(1.02, 0.0005)
    assert len(found.crossings) == 1
    assert found.sure_crossings == ()


def test_without_intervals_no_crossing_is_told() -> None:
    found = together.compare([side("a", spread=None), tilted("b", 1.4, 0.01)]).gains[0]
    assert len(found.crossings) == 1
    assert found.sure_crossings == ()


def test_curves_that_differ_by_noise_alone_seldom_tell_a_crossing() -> None:
    """They cross all the time."""
    drawn = np.random.default_rng(5)
    level, told = 0, 0
    for trial in range(60):
        noisy = [scattered(f"{name}{trial}", drawn) for name in "ab"]
        found = together.compare(noisy, draws=300).gains[0]
        level += bool(found.crossings)
        told += bool(found.sure_crossings)
    assert level > 36
    assert told <= 3


def scattered(name: str, drawn: np.random.Generator) -> Curve:
    """True values moved by as much as their intervals of ±20 % say."""
    points = []
    for cell, level in enumerate(LEVELS):
        output, latency = frontier_of(level)
        off = np.exp(np.log(1.2) / 1.96 * drawn.standard_normal())
        points.append(point(level, cell=cell, output=output * float(off), latency=latency, spread=0.2))
    return dressed(name, points)


def test_between_sure_stretches_the_middle_crossing_is_told() -> None:
    ln_x = np.linspace(0.0, 5.0, 501)
    on_grid = np.where(ln_x < 1, 1.0, np.where(ln_x < 2, -0.01, np.where(ln_x < 3, 0.01, -1.0)))
    far_apart = crossings.sure([1.0, 2.0, 3.0], ln_x, on_grid, lambda _, ratio: abs(ratio) > 0.1)
    assert far_apart == [2.0]
    assert crossings.sure([1.0, 2.0, 3.0], ln_x, on_grid, lambda *_: True) == [1.0, 2.0, 3.0]
    assert crossings.sure([1.0, 2.0, 3.0], ln_x, on_grid, lambda at, _: at < 1) == []
