"""Frontiers against brute force, and what must not change them."""

from __future__ import annotations

import moocore
import msgspec
import numpy as np
from curve_builder import point
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.curve.frontier import frontier
from sweep.curve.interpolate import RULES, at
from sweep.model import Point, Vertex

AXIS = "output/interactivity"
GRID = st.sampled_from([1.0, 2.0, 4.0, 8.0])  # few values, so that ties and equal vectors are common
PLACES = st.lists(st.tuples(GRID | st.floats(0.01, 100), GRID | st.floats(0.01, 100)), min_size=1, max_size=12)


def points_at(places: list[tuple[float, float]]) -> list[Point]:
    """Points with interactivity x and throughput y."""
    return [point(level + 1, latency=1 / x, output=y) for level, (x, y) in enumerate(places)]


def coordinates(points: list[Point]) -> dict[str, tuple[float, float]]:
    return {one.id: (1 / one.metrics["tpot_s"]["p50"].value, one.rates["output_tok_per_s"].value) for one in points}


@given(PLACES)
def test_vertices_are_what_brute_force_says(places: list[tuple[float, float]]) -> None:
    points = points_at(places)
    where = coordinates(points)

    def dominated(x: float, y: float) -> bool:
        return any(u >= x and v >= y and (u > x or v > y) for u, v in where.values())

    found = frontier(points, AXIS)
    best = {name for name, place in where.items() if not dominated(*place)}
    assert {name for vertex in found.vertices for name in vertex.points} == best
    assert set(found.dominated) == set(where) - best
    assert {(vertex.x, vertex.y) for vertex in found.vertices} == {where[name] for name in best}
    assert len(found.vertices) == len({where[name] for name in best})


@given(PLACES)
def test_vertices_are_what_moocore_says(places: list[tuple[float, float]]) -> None:
    points = points_at(places)
    where = np.array(list(coordinates(points).values()))
    best = where[moocore.is_nondominated(where, maximise=True, keep_weakly=True)]
    assert {(vertex.x, vertex.y) for vertex in frontier(points, AXIS).vertices} == set(map(tuple, best.tolist()))


@given(PLACES, st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(places, random) -> None:
    points = points_at(places)
    shuffled = random.sample(points, len(points))
    left, right = frontier(points, AXIS), frontier(shuffled, AXIS)
    assert left.vertices == right.vertices
    assert set(left.dominated) == set(right.dominated)


@given(PLACES)
def test_a_frontier_of_a_frontier_is_itself(places) -> None:
    points = points_at(places)
    best = frontier(points, AXIS)
    names = {name for vertex in best.vertices for name in vertex.points}
    again = frontier([one for one in points if one.id in names], AXIS)
    assert again.vertices == best.vertices
    assert again.dominated == ()


@given(PLACES, st.sampled_from([0.25, 2.0, 1024.0]), st.sampled_from([0.5, 4.0]))
def test_other_units_keep_the_same_points(places, x_scale: float, y_scale: float) -> None:
    """Powers of two, so that scaling is exact and order is kept."""
    before = frontier(points_at(places), AXIS)
    after = frontier(points_at([(x * x_scale, y * y_scale) for x, y in places]), AXIS)
    assert [vertex.points for vertex in after.vertices] == [vertex.points for vertex in before.vertices]


@given(PLACES, st.floats(0.0, 0.5))
def test_surely_dominated_points_are_dominated(places, spread: float) -> None:
    points = [point(level + 1, latency=1 / x, output=y, spread=spread) for level, (x, y) in enumerate(places)]
    found = frontier(points, AXIS)
    assert set(found.surely_dominated) <= set(found.dominated)
    exact = frontier([msgspec.structs.replace(one) for one in points_at(places)], AXIS)
    assert found.vertices == exact.vertices


LADDER = st.lists(st.tuples(st.floats(1.05, 5), st.floats(1.05, 5)), min_size=1, max_size=8)


@settings(max_examples=50)
@given(LADDER, st.floats(0.0, 1.0), st.sampled_from(RULES))
def test_every_rule_stays_in_the_bracket_and_never_rises(ladder, share: float, rule) -> None:
    x, y = np.cumprod([1.0, *(step for step, _ in ladder)]), np.cumprod([1.0, *(step for _, step in ladder)])[::-1]
    vertices = [Vertex(x=float(a), y=float(b), points=()) for a, b in zip(x, y, strict=True)]
    t = vertices[0].x + share * (vertices[-1].x - vertices[0].x)
    here, further = at(vertices, t, rule), at(vertices, min(t * 1.01, vertices[-1].x), rule)
    assert here.attained * (1 - 1e-9) <= here.value <= here.ceiling * (1 + 1e-9)
    assert further.value <= here.value * (1 + 1e-9)
