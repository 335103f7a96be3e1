"""A terminal's table that loses whole columns, never digits, where the window is too narrow for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

LEAST_PROSE = 14  # characters of a column whose text wraps


@dataclass(frozen=True, slots=True)
class Column:
    """`prose` may be wrapped; anything else stands on one line."""

    head: Text
    justify: Any
    prose: bool

    @property
    def name(self) -> str:
        return " ".join(self.head.plain.split())


@dataclass(slots=True)
class Fitted:
    """Columns first stand closer; then those that begin with a word of `spare` go, in that order, then those at the right.

    The first always stays, as do marks, which have no head.
    """

    spare: Sequence[str] = ()
    padding: int = 1
    columns: list[Column] = field(default_factory=list)
    rows: list[tuple[list[Text], str]] = field(default_factory=list)
    caption: Text | None = None

    def add_column(self, head: str | Text, *, justify: str = "left", prose: bool = False) -> None:
        self.columns.append(Column(_text(head), justify, prose))

    def add_row(self, *cells: str | Text, style: str = "") -> None:
        self.rows.append(([_text(cell) for cell in cells], style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        places, padding = self.fitting(options.max_width)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold", show_edge=False)
        for column in (self.columns[place] for place in places):
            table.add_column(column.head, justify=column.justify, no_wrap=not column.prose)
        for cells, style in self.rows:
            table.add_row(*(cells[place] for place in places), style=style)
        yield table
        if self.caption is not None:
            yield self.caption
        gone = [column.name for place, column in enumerate(self.columns) if place not in places]
        if gone:
            yield Text(f"a wider window shows {', '.join(gone)} too", style="dim")

    def fitting(self, width: int) -> tuple[list[int], int]:
        """The places of the columns that fit into so many characters, and the space to the right of each."""
        places = list(range(len(self.columns)))
        widths = [self._column_width(place) for place in places]
        spare = [place for word in self.spare for place in places if self.columns[place].name.startswith(word)]
        going = [*spare, *(place for place in reversed(places[1:]) if place not in spare and self.columns[place].name)]
        padding = self.padding if sum(widths) + len(places) * (self.padding + 1) - 1 <= width else 0
        while going and sum(widths[place] + padding + 1 for place in places) - 1 > width:
            places.remove(going.pop(0))
        return places, padding

    def _column_width(self, place: int) -> int:
        column = self.columns[place]
        texts = [column.head, *(cells[place] for cells, _ in self.rows)]
        widest = max((cell_len(line) for text in texts for line in text.plain.split("\n")), default=0)
        return min(widest, LEAST_PROSE) if column.prose else widest


def _text(said: str | Text) -> Text:
    return said if isinstance(said, Text) else Text(said)
