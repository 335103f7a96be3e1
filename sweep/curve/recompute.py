"""A point, measured again from the records of its cell, against the point that is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from sweep.curve.artifact import plain
from sweep.findings import weight
from sweep.measure.point import measure
from sweep.measure.window import with_phases
from sweep.model import Cell, Curve, Point
from sweep.records import Records
from sweep.wording import short

RELATIVE = 1e-7  # floats are stored with nine digits
COMPARED = (
    "cohort",
    "outcomes",
    "outcomes_all",
    "statuses",
    "isl_asked",
    "isl",
    "osl_asked",
    "osl",
    "cached_share",
    "token_sources",
    "metrics",
    "rates",
    "concurrency",
    "concurrency_peak",
    "histograms",
    "joint",
    "slos",
)
CHUNK_FINDINGS = {"client-bound", "drifting", "history-dependent"}  # of those that disqualify
FROM_CHUNKS = {"itl_s", "chunk_gap_s", "smooth_tok_per_s", "output_tok_per_s", "total_tok_per_s"}


def point_differences(curve: Curve, point: Point, records: Records) -> Iterator[str]:
    """One line for each place where the records say otherwise. What chunk times alone can tell is left out when they were not kept."""
    own = records.where((records["cell"] == point.cell) & (records["repeat"] == point.repeat))
    if len(own) == 0:
        yield f"point {point.id}: no records of its cell"
        return
    if point.window is not None and not np.array_equal(with_phases(own, point.window)["phase"], own["phase"]):
        yield f"point {point.id}: its window is not the one in which the records were measured"
    measured = _measured(curve, point, own)
    chunks = len(records.chunk_ns) > 0
    stated = {finding.code for finding in point.findings} | (set() if chunks else CHUNK_FINDINGS)
    for finding in measured.findings:
        if weight(finding) == "disqualifies" and finding.code not in stated:
            yield f"point {point.id}: by the records the finding {finding.code!r} is due, and it does not have it"
    again, stored = plain(measured), plain(point)
    skip = set() if chunks else FROM_CHUNKS
    for field in COMPARED:
        for path, ours, theirs in _differences(stored[field], again[field], field, skip):
            yield f"point {point.id}: {path} is {_short(ours)}, by the records {_short(theirs)}"


def _measured(curve: Curve, point: Point, own: Records) -> Point:
    cell = Cell(
        index=point.cell,
        profile=curve.profile,
        load=point.load,
        limits=curve.plan.limits,
        start=point.start,
        seed=curve.plan.seed,
        repeat=point.repeat,
    )
    ended = point.window.end_reason if point.window is not None else ""
    return measure(cell, own, point.window, curve.slos, point.health, curve.endpoint, point.started_at, ended)


def _differences(stored: Any, again: Any, path: str, skip: set[str]) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in {**stored, **again}:
            if key not in skip:
                yield from _differences(stored.get(key), again.get(key), f"{path}.{key}", skip)
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for place, (ours, theirs) in enumerate(zip(stored, again, strict=True)):
            yield from _differences(ours, theirs, f"{path}[{place}]", skip)
    elif not _same(stored, again):
        yield path, stored, again


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= RELATIVE * max(abs(ours), abs(theirs))
    return bool(ours == theirs)


def _short(value: Any) -> str:
    return short(msgspec.json.encode(value).decode(), 40)
