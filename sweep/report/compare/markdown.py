"""A comparison as Markdown. Foreign text cannot become markup: it is escaped and kept on its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sweep.curve.compare.nouns import Comparison
from sweep.model import Curve
from sweep.report.compare import advice, evidence, tables, words
from sweep.report.compare.grid import Table
from sweep.report.foreign import harmless, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")


def render(compared: Comparison, curves: Sequence[Curve]) -> str:
    """The whole document: the answer, the evidence, what would make it surer, tables."""
    compared, curves = harmless(compared), [harmless(curve) for curve in curves]
    parts = ["# Comparison", f"**{escaped(words.answer(compared))}**"]
    if compared.unfair:
        parts += ["## Unfair", bullets(advice.unfair(compared))]
    parts += [
        "## Evidence",
        bullets(evidence.evidence(compared)),
        "## What would make it surer",
        bullets(advice.surer(compared)),
    ]
    caveats = advice.caveats(compared)
    if caveats:
        parts += ["## To bear in mind", bullets(caveats)]
    for table in tables.all_of(compared, curves):
        parts += [f"## {escaped(words.capital(table.title))}", drawn(table)]
        parts += [escaped(table.note)] if table.note else []
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible(text))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def drawn(table: Table) -> str:
    rule = [":--" if place < table.left else "--:" for place in range(len(table.head))]
    lines = [table.head, tuple(rule), *table.rows]
    made = [" | ".join(cell if index == 1 else escaped(cell) for cell in line) for index, line in enumerate(lines)]
    return "\n".join(f"| {line} |" for line in made)
