"""The frontier as a small picture in characters: braille for lines, circles for points, loads beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sweep.model import Curve
from sweep.report import quantity
from sweep.report.marks import Mark, Series, frontier, marks
from sweep.report.pace import pace
from sweep.report.style import TYPICAL

WIDEST, NARROWEST, HEIGHT = 56, 26, 11  # of the drawing, in characters
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # braille: bit of (row, column) inside a character
PLAIN = str.maketrans({"●": "o", "○": "x", "│": "|", "┤": "|", "└": "+", "─": "-", "→": ">", "·": ".", "–": "-"})


def sketch(curve: Curve, *, columns: int = 80, plain: bool = False) -> list[str]:
    """Throughput against how fast one user is served, axes from zero, in lines of at most so many characters.

    No lines when there is nothing to draw, or no room for it. `plain`: ASCII only.
    """
    points = quantity.by_load(curve.points)
    how_fast = pace(points)
    drawn = marks(Series(how_fast.statistic, how_fast.read, TYPICAL), points)
    if not drawn:
        return []
    right = (max(mark.x for mark in drawn) or 1.0) * 1.08
    top = (max(mark.y for mark in drawn) or 1.0) * 1.08
    scale = _scale(top)
    margin = max(map(len, scale.values()))
    width = min(WIDEST, columns - margin - len(" ┤"))
    if width < NARROWEST:
        return []
    grid = _line(frontier(drawn, more_is_better=True), width, right, top)
    _points(grid, drawn, right, top)
    speed = how_fast.label.format(rate=curve.endpoint.rate_unit).replace(", TTFT included", "")
    lines = [
        *_with_axis(["".join(row) for row in grid], scale, margin, curve.endpoint.rate_unit),
        *_foot(margin + len(" ┤"), width, right, f"{speed} →"),
    ]
    if plain:
        return ["".join("." if 0x2800 < ord(char) < 0x2900 else char for char in line).translate(PLAIN) for line in lines]
    return lines


def _line(vertices: Sequence[tuple[float, float]], width: int, right: float, top: float) -> list[list[str]]:
    """The polyline through `vertices` in braille dots, two across and four down a character."""
    bits = [[0] * width for _ in range(HEIGHT)]
    for (x, y), (u, v) in pairwise(vertices):
        for step in range(201):
            part = step / 200
            column = int((x + (u - x) * part) / right * width * 2)
            row = int((1 - (y + (v - y) * part) / top) * HEIGHT * 4)
            if 0 <= column < width * 2 and 0 <= row < HEIGHT * 4:
                bits[row // 4][column // 2] |= DOTS[row % 4][column % 2]
    return [[chr(0x2800 + value) if value else " " for value in row] for row in bits]


def _points(grid: list[list[str]], drawn: Sequence[Mark], right: float, top: float) -> None:
    """Points over the line, then each load beside its point where the row has room for it."""
    width = len(grid[0])
    cells = [(min(width - 1, int(mark.x / right * width)), min(HEIGHT - 1, int((1 - mark.y / top) * HEIGHT))) for mark in drawn]
    for mark, (column, row) in zip(drawn, cells, strict=True):
        grid[row][column] = "○" if mark.point.disqualified else "●"
    for mark, (column, row) in zip(drawn, cells, strict=True):
        if mark.point.repeat:
            continue  # the first of its load carries the label
        text = quantity.level(mark.point.load)
        for start in (column + 2, column - 1 - len(text)):
            around = range(start - 1, start + len(text) + 1)
            if start >= 0 and start + len(text) <= width and all(_free(grid[row], at, column) for at in around):
                grid[row][start : start + len(text)] = text
                break


def _free(row: list[str], at: int, own: int) -> bool:
    """Whether a label may stand on or touch this character: blank, line, beyond the edge, or the label's own point."""
    return at == own or not 0 <= at < len(row) or row[at] == " " or 0x2800 < ord(row[at]) < 0x2900


def _scale(top: float) -> dict[int, str]:
    """The numbers of the vertical axis, each at its row."""
    middle = HEIGHT // 2
    numbers = {0: top, middle: top * (1 - middle / HEIGHT), HEIGHT - 1: 0.0}
    return {row: quantity.significant(number) for row, number in numbers.items()}


def _with_axis(body: Sequence[str], scale: Mapping[int, str], margin: int, unit: str) -> list[str]:
    rows = [f"{scale.get(row, ''):>{margin}} {'┤' if row in scale else '│'}{text}" for row, text in enumerate(body)]
    return [f"{'':>{margin}} output {unit}", *rows, f"{'':>{margin}} └{'─' * len(body[0])}"]


def _foot(indent: int, width: int, right: float, label: str) -> list[str]:
    """The horizontal axis: its numbers with its label between them, or below them where that is too long."""
    end = quantity.significant(right)
    between = width - 1 - len(end)
    if len(label) + 2 <= between:
        return [" " * indent + "0" + label.center(between) + end]
    wrapped = textwrap.wrap(label, indent + width)
    return [" " * indent + "0" + " " * between + end, *(line.rjust(indent + width) for line in wrapped)]
