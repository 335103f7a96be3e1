"""The .hlog: read back by the HdrHistogram library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from curve_builder import curve, point
from hdrh.histogram import HdrHistogram

from sweep.curve import hlog
from sweep.errors import ArtifactError
from sweep.measure import histogram

VALUES_NS = np.array([1_500_000, 2_500_000, 40_000_000])


def with_histogram(text: str | None = None):
    encoded = text or histogram.encode(histogram.record(VALUES_NS))
    return curve(
        point(1, histograms={"ttft_s": encoded}),
        point(2, cell=1, histograms={"ttft_s": encoded, "tpot_s": encoded}, started_at="2026-01-01T00:01:00Z"),
    )


def test_lines_carry_tag_times_and_a_histogram_that_the_library_reads(tmp_path: Path) -> None:
    path = tmp_path / "x.hlog"
    hlog.save(with_histogram(), path)
    lines = path.read_text().splitlines()
    assert lines[0] == "#[Histogram log format version 1.3]"
    assert lines[1].startswith("#[StartTime: 1767225600.000 (seconds since epoch)")
    rows = [line.split(",") for line in lines[3:]]
    assert [row[0] for row in rows] == ["Tag=c1.0.ttft_s", "Tag=c2.0.tpot_s", "Tag=c2.0.ttft_s"]
    assert [row[1:4] for row in rows] == [
        ["0.000", "30.000", "40.031"],
        ["60.000", "30.000", "40.031"],
        ["60.000", "30.000", "40.031"],
    ]
    read = HdrHistogram.decode(rows[0][4])
    assert read.get_total_count() == 3
    assert read.get_value_at_percentile(1) == pytest.approx(1500, rel=0.001)


def test_a_curve_without_points_has_a_head_only() -> None:
    assert hlog.text(curve(points=())).count("\n") == 3


def test_a_damaged_histogram_is_named() -> None:
    with pytest.raises(ArtifactError, match=r"point c1\.0, ttft_s"):
        hlog.text(with_histogram("HISTFAAA"))


def test_a_time_that_is_none_is_named() -> None:
    with pytest.raises(ArtifactError, match="'yesterday' is not a time"):
        hlog.text(curve(point(1, started_at="yesterday")))
