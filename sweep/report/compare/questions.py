"""The four questions side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sweep.curve.compare import fair
from sweep.curve.compare.nouns import Comparison
from sweep.model import Curve, Fact
from sweep.report import quantity
from sweep.report.compare.grid import Table
from sweep.report.facts import UNSTATED, named

DIFFERS = "≠"
LENGTHS = {"isl", "osl"}  # realised: how many requests they are of tells nothing of the workload
ASKED = {"profile", "load_kind", "start", "dialect", "text", "isl_asked", "osl_asked", "seed", "repeats", "slos", "grid"}


def questions(curves: Sequence[Curve], compared: Comparison) -> list[Table]:
    """Each question a table with one column a curve; what differs is marked."""
    return [_table(section, rows, rows) for section, rows in _sections(curves, compared)]


def differing(curves: Sequence[Curve], compared: Comparison) -> list[Table]:
    """The same, with only the names of what all answer alike."""
    made = []
    for section, rows in _sections(curves, compared):
        made.append(_table(section, [row for row in rows if row[0].startswith(DIFFERS)], rows))
    return made


def _sections(curves: Sequence[Curve], compared: Comparison) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    labelled = {side.label: curve for side, curve in zip(compared.sides, curves, strict=True)}
    for section, answers in fair.side_by_side(labelled).items():
        yield section, [("", *labelled), *(_row(key, by_label, labelled) for key, by_label in answers)]


def _table(section: str, shown: Sequence[tuple[str, ...]], known: Sequence[tuple[str, ...]]) -> Table:
    """`known` begins with the head."""
    head, *rows = known
    stated = [row for row in rows if any(cell != UNSTATED for cell in row[1:])]
    kept = tuple(row for row in shown if row in stated)
    notes = [f"{DIFFERS} differs."] if any(row[0].startswith(DIFFERS) for row in kept) else []
    alike = [row[0] for row in stated if row not in kept]
    notes += [f"Alike: {', '.join(alike)}."] if alike else []
    unstated = [row[0] for row in rows if row not in stated]
    notes += [f"Nobody states: {', '.join(unstated)}."] if unstated else []
    return Table(section, head, kept, len(head), " ".join(notes))


def _row(key: str, by_label: Mapping[str, Fact], labelled: Mapping[str, Curve]) -> tuple[str, ...]:
    cells = [_answer(key, by_label[label], curve) for label, curve in labelled.items()]
    name = named(key, 0.0)[0]
    return (f"{DIFFERS} {name}" if len(set(cells)) > 1 else name, *cells)


def _answer(key: str, fact: Fact, curve: Curve) -> str:
    if fact.value is None:
        return UNSTATED
    value = {name: part for name, part in fact.value.items() if name != "n"} if key in LENGTHS else fact.value
    said = "; ".join(quantity.slo_title(slo) for slo in curve.slos) if key == "slos" and curve.slos else named(key, value)[1]
    return f"{said} (declared)" if fact.known == "declared" and key not in ASKED else said
