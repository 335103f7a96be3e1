"""The records of merged repeats: those of every run under the numbers that its cells have in the merged curve.

Request numbers stay those that the servers saw, so that they are unique within a cell, not over all runs. The records of
shards stay apart: each has a clock of its own, and no window places them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from sweep.curve import parquet
from sweep.model import Curve, Point
from sweep.records import INT, Records, concat


def beside(files: Sequence[Path]) -> list[Records] | None:
    """The records of every curve file; None where one has none. Raises ArtifactError."""
    found = [parquet.beside(file) for file in files]
    return [parquet.read_records(path) for path in found] if all(path.exists() for path in found) else None


def of_repeats(curves: Sequence[Curve], parts: Sequence[Records], merged: Curve) -> Records:
    """`parts` are the records of `curves`, whose points are those of `merged` in the same order."""
    old = chain.from_iterable(((own, point) for point in curve.points) for curve, own in zip(curves, parts, strict=True))
    return concat([_moved(own, before, after) for (own, before), after in zip(old, merged.points, strict=True)])


def _moved(own: Records, before: Point, after: Point) -> Records:
    rows = own.where((own["cell"] == before.cell) & (own["repeat"] == before.repeat))
    numbers = {"cell": after.cell, "repeat": after.repeat}
    return rows.replace(**{name: np.full(len(rows), number, INT[name]) for name, number in numbers.items()})
