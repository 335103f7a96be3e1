"""NAME.hlog: the curve's histograms in the HdrHistogram log format 1.3, which the libraries of most languages read.

One line a metric and point: its tag (`c16.0.ttft_s`), the window's start and length in seconds, the largest value in ms, and the
histogram, in µs, as it stands in the curve file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sweep.curve.files import write_atomically
from sweep.curve.stored import DAMAGED, histogram_of
from sweep.errors import ArtifactError
from sweep.measure import histogram
from sweep.model import Curve, Point


def save(curve: Curve, path: Path) -> None:
    """Raises OutputError, and ArtifactError as `text` does."""
    write_atomically(path, text(curve).encode())


def text(curve: Curve) -> str:
    """The whole file. Raises ArtifactError for a histogram or a time that does not hold."""
    began = [_seconds(point.started_at) for point in curve.points]
    start = min(began, default=_seconds(curve.created_at))
    head = (
        "#[Histogram log format version 1.3]\n"
        f"#[StartTime: {start:.3f} (seconds since epoch), {datetime.fromtimestamp(start, UTC):%a %b %d %H:%M:%S UTC %Y}]\n"
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    )
    lines = (
        _line(point, name, at - start)
        for point, at in zip(curve.points, began, strict=True)
        for name in sorted(point.histograms)
    )
    return head + "".join(lines)


def _line(point: Point, name: str, start_s: float) -> str:
    max_us = histogram.percentile_us(histogram_of(point, name), 1.0) or 0
    length_s = point.window.seconds if point.window is not None else 0.0
    return f"Tag={point.id}.{name},{start_s:.3f},{length_s:.3f},{max_us / 1000:.3f},{point.histograms[name]}\n"


def _seconds(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError):
        raise ArtifactError(f"{moment[:40]!r} is not a time", DAMAGED) from None
