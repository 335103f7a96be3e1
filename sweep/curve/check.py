"""Does a curve file hold? Schema and digest, what its parts say of each other, and the records where they lie beside it.

A digest can be recomputed by whoever changes the file; so everything else that can be recomputed is: SLO counts, goodput and
verdicts from joint tables, percentiles and their intervals from histograms, frontiers, findings and facts from points and plan,
and points as a whole from the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.curve import artifact, consistent_curve
from sweep.curve.parquet import beside, read_records
from sweep.curve.recompute import point_differences
from sweep.errors import ArtifactError

CONSISTENT = ("counts", "joint tables", "histograms", "SLOs", "frontiers", "facts")  # they hold together or not at all


@dataclass(frozen=True, slots=True)
class Checked:
    """`problems`: one line each, none when the file holds. `verified` and `not_verifiable`: what holds, what could not be told."""

    problems: tuple[str, ...]
    verified: tuple[str, ...]
    not_verifiable: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def check(path: Path) -> Checked:
    """Reads the file and, beside it, NAME.records.parquet. Never raises for what a file can hold."""
    try:
        curve = artifact.load(path)
    except ArtifactError as error:
        return Checked((error.message,), (), ())
    problems = tuple(consistent_curve.problems(curve))
    verified = ("schema", "digest", *(() if problems else CONSISTENT))
    if not (own := beside(path)).exists():
        return Checked(problems, verified, (f"records (no {own.name} beside the file)",))
    try:
        records = read_records(own)
    except ArtifactError as error:
        return Checked((*problems, error.message), verified, ())
    differing = tuple(problem for point in curve.points for problem in point_differences(curve, point, records))
    missing = (
        () if len(records.chunk_ns) else ("inter-token latency, chunk gaps, smooth rate and token rates (no chunk times kept)",)
    )
    return Checked((*problems, *differing), (*verified, *(() if differing else ("records",))), missing)


def summary(checked: Checked) -> Sequence[str]:
    """Lines for a person, problems first."""
    return [
        *checked.problems,
        *_line("verified", checked.verified),
        *_line("not verifiable", checked.not_verifiable),
    ]


def _line(title: str, parts: Iterable[str]) -> list[str]:
    said = ", ".join(parts)
    return [f"{title}: {said}"] if said else []
