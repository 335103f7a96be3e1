"""The four questions side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.curve.compare import fair
from sweep.curve.compare.nouns import Comparison
from sweep.model import Curve, Fact
from sweep.report.compare.grid import Table
from sweep.report.facts import UNSTATED, named


def questions(curves: Sequence[Curve], compared: Comparison) -> list[Table]:
    """The four questions, each a table with one column a curve."""
    labelled: Mapping[str, Curve] = {side.label: curve for side, curve in zip(compared.sides, curves, strict=True)}
    made = []
    for section, answers in fair.side_by_side(labelled).items():
        rows = tuple((named(key, 0.0)[0], *(_fact(key, by_label[label]) for label in labelled)) for key, by_label in answers)
        stated = tuple(row for row in rows if any(cell != UNSTATED for cell in row[1:]))
        unstated = [row[0] for row in rows if row not in stated]
        note = f"Nobody states: {', '.join(unstated)}." if unstated else ""
        made.append(Table(section, ("", *labelled), stated, 1 + len(labelled), note))
    return made


def _fact(key: str, fact: Fact) -> str:
    return UNSTATED if fact.value is None else named(key, fact.value)[1] + (" (declared)" if fact.known == "declared" else "")
