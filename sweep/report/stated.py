"""What a curve file states about the system, for a person: every fact, how it is known, and what nobody said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sweep.curve.setup import DECLARABLE
from sweep.model import Curve
from sweep.report.facts import fact_text
from sweep.report.foreign import harmless
from sweep.report.quantity import MISSING

if TYPE_CHECKING:
    from rich.console import Console


def rows(curve: Curve) -> Iterator[tuple[str, str, str]]:
    """`hardware.accelerators`, `8× H200`, `declared`: whatever can be declared, section by section."""
    for section, keys in DECLARABLE.items():
        facts = getattr(curve, section)
        for key in keys:
            if key in facts:
                yield f"{section}.{key}", in_words(facts[key].value), facts[key].known


def in_words(value: Any) -> str:
    return MISSING if value is None else fact_text(value)


def show(console: Console, curve: Curve) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, value, known in rows(harmless(curve)):
        style = "dim" if known == "missing" else ""
        grid.add_row(Text(name, style=style), Text(value, style=style), Text(known, style=style or "green"))
    console.print(grid)
    if len(curve.previous_digests):
        console.print(Text(f"described or merged from: {', '.join(curve.previous_digests)}", style="dim"))
