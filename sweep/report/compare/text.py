"""A comparison on a terminal, as rich renderables of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sweep.curve.compare.nouns import Comparison
from sweep.model import Curve
from sweep.report.compare import advice, evidence, grid, outlays, questions, tables, words
from sweep.report.foreign import harmless

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def show(console: Console, compared: Comparison, curves: Sequence[Curve]) -> None:
    for piece in pieces(harmless(compared), [harmless(curve) for curve in curves]):
        console.print(piece)


def pieces(compared: Comparison, curves: Sequence[Curve]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    if compared.unfair:
        yield Text("\n".join(f"UNFAIR: {line}" for line in advice.unfair(compared)) + "\n", style="bold red")
    yield Text(words.answer(compared) + "\n", style="bold")
    brief = (*tables.targets(compared, brief=True), tables.verdicts(compared, brief=True))
    taken = (outlays.costs(compared), outlays.energies(compared))
    for table in (tables.sides(compared), *brief, tables.loads(compared), *taken):
        if table is not None and table.rows:
            yield from _drawn(table)
    for title, lines in (
        ("Over the whole curve", [evidence.gain(compared, each) for each in compared.gains]),
        ("What would make it surer", advice.surer(compared)),
        ("To bear in mind", advice.caveats(compared)),
    ):
        if lines:
            yield Text(title, style="bold")
            for line in lines:
                yield Padding(Text(line), (0, 0, 0, 2))
            yield Text()
    yield Text("The four questions: what is answered differently", style="bold")
    for table in questions.differing(curves, compared):
        if table.rows:
            yield from _drawn(table)
        yield Padding(Text(f"{table.title}: {table.note}" if not table.rows else table.note, style="dim"), (0, 0, 1, 1))


def _drawn(table: grid.Table) -> Iterator[RenderableType]:
    """Words wrap, numbers do not; where the window is too narrow, what the measurements alone prove goes first, a verdict last."""
    from rich.text import Text

    from sweep.report.fitted import Fitted

    made = Fitted(spare=("proven", "95 %", "ratio"))
    last = len(table.head) - 1
    for place, head in enumerate(table.head):
        words = place < table.left
        made.add_column(Text(head, style="dim"), justify="left" if words or place == last else "right", prose=words)
    for row in table.rows:
        made.add_row(*row)
    yield Text(table.title, style="bold")
    yield made
    yield Text()
