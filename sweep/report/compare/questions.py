"""The four questions side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.curve.compare import fair
from sweep.curve.compare.nouns import Comparison
from sweep.model import Curve, Fact
from sweep.report import quantity
from sweep.report.compare.grid import Table
from sweep.report.facts import UNSTATED, named

DIFFERS = "≠"
ASKED = {"profile", "load_kind", "start", "dialect", "text", "isl_asked", "osl_asked", "seed", "repeats", "slos", "grid"}


def questions(curves: Sequence[Curve], compared: Comparison) -> list[Table]:
    """Each question a table with one column a curve; what differs is marked."""
    labelled: Mapping[str, Curve] = {side.label: curve for side, curve in zip(compared.sides, curves, strict=True)}
    made = []
    for section, answers in fair.side_by_side(labelled).items():
        rows = [_row(key, by_label, labelled) for key, by_label in answers]
        stated = tuple(row for row in rows if any(cell != UNSTATED for cell in row[1:]))
        notes = [f"{DIFFERS} differs."] if any(row[0].startswith(DIFFERS) for row in stated) else []
        unstated = [row[0] for row in rows if row not in stated]
        notes += [f"Nobody states: {', '.join(unstated)}."] if unstated else []
        made.append(Table(section, ("", *labelled), stated, 1 + len(labelled), " ".join(notes)))
    return made


def _row(key: str, by_label: Mapping[str, Fact], labelled: Mapping[str, Curve]) -> tuple[str, ...]:
    cells = [_answer(key, by_label[label], curve) for label, curve in labelled.items()]
    name = named(key, 0.0)[0]
    return (f"{DIFFERS} {name}" if len(set(cells)) > 1 else name, *cells)


def _answer(key: str, fact: Fact, curve: Curve) -> str:
    if fact.value is None:
        return UNSTATED
    said = (
        "; ".join(quantity.slo_title(slo) for slo in curve.slos) if key == "slos" and curve.slos else named(key, fact.value)[1]
    )
    return f"{said} (declared)" if fact.known == "declared" and key not in ASKED else said
