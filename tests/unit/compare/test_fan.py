"""Many frontiers at once say what one frontier alone says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from sweep.curve import interpolate
from sweep.curve.compare import fan
from sweep.model import Vertex


@pytest.mark.parametrize("vertices", [1, 2, 3, 5, 12])
def test_every_row_is_scipys_pchip_through_what_is_not_dominated(vertices: int) -> None:
    draw = np.random.default_rng(vertices)
    x, y = draw.normal(size=(40, vertices)), draw.normal(size=(40, vertices))
    made = fan.fan(x, y)
    for row in range(len(x)):
        order = np.argsort(x[row])
        kept = [at for place, at in enumerate(order) if all(y[row][at] > y[row][other] for other in order[place + 1 :])]
        xs, ys = x[row][kept], y[row][kept]
        assert made.count[row] == len(kept)
        if len(kept) == 1:
            continue
        oracle = PchipInterpolator(xs, ys)
        low, high = sorted(draw.uniform(xs[0], xs[-1], 2))
        assert fan.value(made, np.full(40, low))[row] == pytest.approx(float(oracle(low)), abs=1e-11)
        within = [np.clip(np.full(40, end), made.first, made.last) for end in (low, high)]
        assert fan.integral(made, *within)[row] == pytest.approx(float(oracle.integrate(low, high)), abs=1e-11)


def test_left_of_the_first_vertex_it_is_flat_and_right_of_the_last_it_is_out_of_reach() -> None:
    made = fan.fan(np.log([[10.0, 20.0]]), np.log([[300.0, 100.0]]))
    assert np.exp(fan.value(made, np.log(5.0))) == pytest.approx(300)
    assert np.exp(fan.value(made, np.log(20.0))) == pytest.approx(100)
    assert fan.value(made, np.log(20.1)) == -np.inf


def test_a_row_without_noise_is_the_frontier_itself() -> None:
    vertices = tuple(Vertex(x=x, y=y, points=()) for x, y in [(10, 900), (20, 700), (45, 300), (80, 40)])
    made = fan.fan(np.log([[v.x for v in vertices]]), np.log([[v.y for v in vertices]]))
    for x in (10, 13.7, 20, 60, 80):
        assert np.exp(fan.value(made, np.log(x))[0]) == pytest.approx(interpolate.at(vertices, x).value, rel=1e-12)
