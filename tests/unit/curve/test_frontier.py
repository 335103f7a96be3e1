"""What belongs on a frontier, and what the intervals allow to say about the rest."""

from __future__ import annotations

from itertools import pairwise

import pytest
from curve_builder import point

from sweep.curve.frontier import AXES, axis_named, default_axis, frontier, frontiers
from sweep.model import Estimate


def test_vertices_ascend_in_x_and_descend_in_y() -> None:
    points = [point(level, output=100 * level, latency=0.01 * level) for level in (4, 1, 2)]
    vertices = frontier(points, "output/interactivity").vertices
    assert [vertex.points for vertex in vertices] == [("c4.0",), ("c2.0",), ("c1.0",)]
    assert all(left.x < right.x and left.y > right.y for left, right in pairwise(vertices))
    assert vertices[-1].x == pytest.approx(100.0)


def test_equal_throughput_keeps_the_more_interactive_point_only() -> None:
    found = frontier([point(1, latency=0.01), point(2, latency=0.02)], "output/interactivity")
    assert [vertex.points for vertex in found.vertices] == [("c1.0",)]
    assert found.dominated == ("c2.0",)


def test_equal_vectors_share_a_vertex() -> None:
    found = frontier([point(1), point(2)], "output/interactivity")
    assert [vertex.points for vertex in found.vertices] == [("c1.0", "c2.0")]
    assert found.dominated == ()


@pytest.mark.parametrize(
    "lost", [point(8, output=None), point(8, output=0.0), point(8, latency=None), point(8, output=9e9, disqualified=True)]
)
def test_null_nonpositive_and_disqualified_points_are_dropped(lost) -> None:
    found = frontier([point(1), lost], "output/interactivity")
    assert found.dropped == ("c8.0",)
    assert [vertex.points for vertex in found.vertices] == [("c1.0",)]


def test_repeats_of_a_load_are_one_candidate_at_their_mean() -> None:
    repeats = [point(1, repeat=0, output=100), point(1, repeat=1, output=300)]
    (vertex,) = frontier(repeats, "output/interactivity").vertices
    assert vertex.y == 200
    assert vertex.points == ("c1.0", "c1.1")


def test_only_separate_intervals_make_a_point_surely_dominated() -> None:
    near = [point(1, output=100, latency=0.010, spread=0.05), point(2, output=98, latency=0.0102, spread=0.05)]
    apart = [point(1, output=100, latency=0.010, spread=0.05), point(2, output=50, latency=0.030, spread=0.05)]
    assert frontier(near, "output/interactivity").dominated == ("c2.0",)
    assert frontier(near, "output/interactivity").surely_dominated == ()
    assert frontier(apart, "output/interactivity").surely_dominated == ("c2.0",)


def test_an_unbounded_interval_proves_nothing() -> None:
    unbounded = {"tpot_s": {"p50": Estimate(value=0.01, low=0.009, high=None)}}
    points = [point(1, output=100, spread=0.01, metrics=unbounded), point(2, output=50, latency=0.03, spread=0.01)]
    found = frontier(points, "output/interactivity")
    assert found.dominated == ("c2.0",)
    assert found.surely_dominated == ()


def test_too_few_samples_at_one_point_move_the_whole_curve_to_p50() -> None:
    enough = [point(1), point(2)]
    assert frontier(enough, AXES[0]).statistic == "p90"
    scarce = frontier([*enough, point(4, few=True)], AXES[0])
    assert scarce.statistic == "p50"
    assert "p50" in scarce.x_label
    assert scarce.x == "normalised_e2e_s.p50"
    assert frontier([*enough, point(4, few=True, disqualified=True)], AXES[0]).statistic == "p90"


def test_a_server_that_only_queues_has_one_vertex() -> None:
    found = frontier([point(1, output=100, latency=0.01), point(2, output=99, latency=0.02)], AXES[0])
    assert len(found.vertices) == 1


def test_no_points_no_vertices_and_still_a_default() -> None:
    assert all(one.vertices == () for one in frontiers([]))
    assert default_axis([]) == "output/normalised-e2e"


def test_the_default_is_an_axis_the_points_have() -> None:
    only_ttft = {"ttft_s": {"p90": Estimate(value=0.1, n=100)}}
    assert default_axis([point(1, metrics=only_ttft)]) == "output/ttft"


def test_axis_names() -> None:
    assert axis_named("ttft") == "output/ttft"
    assert axis_named("total/smooth") == "total/smooth"
    with pytest.raises(KeyError, match="known: output/normalised-e2e"):
        axis_named("speed")
