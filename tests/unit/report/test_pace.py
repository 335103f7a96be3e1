"""A curve of answers in one piece is shown against how fast a request is served, in its own unit of work."""

from __future__ import annotations

from io import StringIO

import msgspec
import pytest
import sample_curves
from rich.console import Console

from sweep.curve.frontier import frontiers
from sweep.model import Curve, Estimate, Point
from sweep.report import figure, page, table, text, words
from sweep.report.pace import pace, streamed
from sweep.report.sketch import sketch


def whole(point: Point) -> Point:
    """The point without anything that a stream alone has."""
    metrics = {
        name: found for name, found in point.metrics.items() if name not in ("tpot_s", "itl_s", "interactivity_tok_per_s")
    }
    return msgspec.structs.replace(point, metrics=metrics | {"normalised_e2e_s": {"p50": Estimate(value=0.25, n=100)}})


@pytest.fixture
def vectors() -> Curve:
    curve = sample_curves.curve()
    endpoint = msgspec.structs.replace(curve.endpoint, unit="vectors", dialect="embeddings")
    points = tuple(map(whole, curve.points))
    return msgspec.structs.replace(curve, endpoint=endpoint, points=points, frontiers=frontiers(points, endpoint.rate_unit))


def test_the_pace_is_the_default_axis_of_the_frontier(vectors: Curve) -> None:
    assert pace(sample_curves.curve().points).label == "interactivity, 1 / TPOT p50 [{rate}/user]"  # no normalised E2E there
    whole_answers = pace(vectors.points)
    assert whole_answers.label == "1 / normalised E2E p50 [{rate}/user, TTFT included]"
    speed = whole_answers.read(vectors.points[0])
    assert speed is not None
    assert speed.value == 4


def test_what_has_a_time_between_tokens_is_streamed(vectors: Curve) -> None:
    assert streamed(sample_curves.curve().points)
    assert not streamed(vectors.points)
    assert streamed(())


def test_everything_shown_is_in_the_unit_of_work(vectors: Curve) -> None:
    console = Console(width=80, color_system=None, record=True, file=StringIO())
    text.show(console, vectors)
    shown = "\n".join([console.export_text(), *sketch(vectors), *words.sentences(vectors), figure.svg_text(vectors)])
    assert "vectors/s" in shown
    assert "tok/s" not in shown
    labels = [label for front in vectors.frontiers for label in (front.x_label, front.y_label)]
    assert not any("tok/s" in label for label in labels)
    assert "goodput<small>vectors/s" in page.render(vectors)


def test_columns_about_tokens_are_left_out(vectors: Curve) -> None:
    heads = [column.head for column in table.columns(vectors)]
    assert heads == ["load", "output", "TTFT p50", "TTFT p99", "E2E p99", "failed"]
    assert all(len(row.cells) == len(heads) for row in table.rows(vectors))
    assert len(table.columns(sample_curves.curve())) == sum(not column.refusals for column in table.COLUMNS)
