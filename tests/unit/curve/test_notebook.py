"""The API of a notebook: a file, and questions put to it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from curve_builder import ENDPOINT, curve, measured, point, records

import sweep
from sweep.curve import artifact
from sweep.curve.notebook import CurveFile
from sweep.errors import ArtifactError, SloError


@pytest.fixture
def opened(tmp_path: Path) -> CurveFile:
    made = curve(measured(records(cell=0, n=60, seed=1), 1), measured(records(cell=1, n=60, seed=2), 2))
    return sweep.load(artifact.save(made, tmp_path))


def test_load_gives_the_curve_and_refuses_what_does_not_hold(opened: CurveFile, tmp_path: Path) -> None:
    assert opened.curve.endpoint == ENDPOINT
    with pytest.raises(ArtifactError):
        sweep.load(tmp_path / "absent.curve.json")


def test_a_frontier_by_name(opened: CurveFile) -> None:
    assert opened.frontier().axis == "output/normalised-e2e"
    assert opened.frontier("total/ttft").y == "total_tok_per_s"
    with pytest.raises(KeyError):
        opened.frontier("speed")


def test_throughput_where_users_get_x() -> None:
    points = (point(1, output=100, latency=0.01), point(2, output=150, latency=0.02))
    ask = CurveFile(curve(*points))
    assert ask.at(50.0, "interactivity").standing == "measured"
    assert 100 < ask.at(70.0, "interactivity").value < 150
    assert ask.at(101.0, "interactivity").standing == "unreachable"


def test_pick_by_text_or_noun(opened: CurveFile) -> None:
    found = opened.pick("ttft_p90<=10s")
    assert (found.verdict, found.highest.level) == ("met", 2)
    assert opened.pick(found.slo) == found
    with pytest.raises(SloError):
        opened.pick("nonsense")


def test_one_row_a_point_null_where_missing(opened: CurveFile) -> None:
    frame = opened.to_polars()
    assert frame["level"].to_list() == [1.0, 2.0]
    assert frame["ttft_s_p50"][0] == opened.points[0].metrics["ttft_s"]["p50"].value
    assert "ttft_s_p50_low" not in frame.columns
    assert "ttft_s_p50_low" in opened.to_polars(intervals=True).columns
    assert CurveFile(curve(point(1, output=None))).to_polars()["output_tok_per_s"].to_list() == [None]


def test_markup_from_a_file_is_text() -> None:
    hostile = msgspec.structs.replace(curve(point(1, id="<img>", output=None, disqualified=True)), name="<script>")
    shown = CurveFile(hostile)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "disqualified" in shown
    assert "<td>–</td>" in shown
