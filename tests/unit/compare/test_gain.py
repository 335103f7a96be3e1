"""One mean ratio of two frontiers, against PyPI's bjontegaard and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sweep.curve.compare import fan, gain
from sweep.model import Vertex

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
