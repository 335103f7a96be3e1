"""What a frontier says between its vertices, and what it refuses to say."""

from __future__ import annotations

import pytest

from sweep.curve.interpolate import RULES, at
from sweep.model import Vertex

VERTICES = [Vertex(x=x, y=y, points=()) for x, y in ((10.0, 900.0), (20.0, 700.0), (50.0, 100.0))]


@pytest.mark.parametrize("rule", RULES)
def test_a_vertex_is_measured_and_needs_no_rule(rule) -> None:
    answer = at(VERTICES, 20.0, rule)
    assert (answer.standing, answer.value, answer.attained, answer.ceiling) == ("measured", 700.0, 700.0, 700.0)


@pytest.mark.parametrize("rule", RULES)
def test_between_vertices_the_bracket_holds_the_value(rule) -> None:
    answer = at(VERTICES, 30.0, rule)
    assert answer.standing == "interpolated"
    assert (answer.attained, answer.ceiling) == (100.0, 700.0)
    assert 100.0 <= answer.value <= 700.0


def test_step_is_what_was_attained() -> None:
    assert at(VERTICES, 30.0, "step").value == 100.0


@pytest.mark.parametrize("rule", RULES)
def test_flat_to_the_left_with_no_ceiling(rule) -> None:
    answer = at(VERTICES, 1.0, rule)
    assert (answer.standing, answer.value, answer.attained, answer.ceiling) == ("interpolated", 900.0, 900.0, None)


@pytest.mark.parametrize("rule", RULES)
def test_unreachable_to_the_right_never_extrapolated(rule) -> None:
    answer = at(VERTICES, 50.1, rule)
    assert (answer.standing, answer.value, answer.attained, answer.ceiling) == ("unreachable", None, None, 100.0)


@pytest.mark.parametrize("rule", RULES)
def test_one_vertex_and_none(rule) -> None:
    assert at(VERTICES[:1], 5.0, rule).value == 900.0
    assert at(VERTICES[:1], 11.0, rule).standing == "unreachable"
    assert at([], 5.0, rule).standing == "unreachable"
