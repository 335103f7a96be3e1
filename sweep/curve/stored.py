"""What a point stores in coded form, decoded within limits: files come from strangers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from sweep.errors import ArtifactError
from sweep.measure import histogram, joint, jointcode
from sweep.model import Point

DAMAGED = "the file is damaged; get the original"


def histogram_of(point: Point, metric: str) -> histogram.Histogram:
    """Raises ArtifactError for one that does not hold, KeyError where the point has none."""
    try:
        return histogram.decode(point.histograms[metric])
    except ValueError as error:
        raise ArtifactError(f"point {point.id}, {metric}: {error}", DAMAGED) from None


def table_of(point: Point) -> joint.Joint | None:
    """None where the point has no table. Raises ArtifactError for one that does not hold."""
    if point.joint is None:
        return None
    try:
        return jointcode.decode(point.joint)
    except ValueError as error:
        raise ArtifactError(f"point {point.id}, joint table: {error}", DAMAGED) from None


def rows_and_bytes(points: Iterable[Point]) -> tuple[int, int]:
    """Rows of all joint tables and bytes of all histograms, unpacked, as each says of itself; what is damaged unpacks to nothing."""
    rows = bytes_ = 0
    for point in points:
        with suppress(ValueError):
            rows += 0 if point.joint is None else jointcode.peek(point.joint)
        for text in point.histograms.values():
            with suppress(ValueError):
                bytes_ += histogram.peek(text)
    return rows, bytes_
