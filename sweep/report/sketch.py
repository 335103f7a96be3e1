"""The frontier as a small picture in characters: braille for lines, circles for points, loads beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sweep.model import Curve
from sweep.report import quantity
from sweep.report.marks import Mark, Series, frontier, marks
from sweep.report.pace import pace
from sweep.report.style import TYPICAL

WIDTH, HEIGHT = 56, 11  # of the drawing, in characters
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # braille: bit of (row, column) inside a character
PLAIN = str.maketrans({"●": "o", "○": "x", "│": "|", "┤": "|", "└": "+", "─": "-", "→": ">", "·": ".", "–": "-"})


def sketch(curve: Curve, *, plain: bool = False) -> list[str]:
    """Throughput against how fast one user is served, axes from zero; no lines when there is nothing to draw. `plain`: ASCII only."""
    points = quantity.by_load(curve.points)
    how_fast = pace(points)
    drawn = marks(Series(how_fast.statistic, how_fast.read, TYPICAL), points)
    if not drawn:
        return []
    right = (max(mark.x for mark in drawn) or 1.0) * 1.08
    top = (max(mark.y for mark in drawn) or 1.0) * 1.08
    grid = _line(frontier(drawn, more_is_better=True), right, top)
    _points(grid, drawn, right, top)
    body = ["".join(row) for row in grid]
    lines = [
        *_with_axis(body, top, curve.endpoint.rate_unit),
        _foot(right, f"{how_fast.label.format(rate=curve.endpoint.rate_unit).replace(', TTFT included', '')} →"),
    ]
    if plain:
        return ["".join("." if 0x2800 < ord(char) < 0x2900 else char for char in line).translate(PLAIN) for line in lines]
    return lines


def _line(vertices: Sequence[tuple[float, float]], right: float, top: float) -> list[list[str]]:
    """The polyline through `vertices` in braille dots, two across and four down a character."""
    bits = [[0] * WIDTH for _ in range(HEIGHT)]
    for (x, y), (u, v) in pairwise(vertices):
        for step in range(201):
            part = step / 200
            column = int((x + (u - x) * part) / right * WIDTH * 2)
            row = int((1 - (y + (v - y) * part) / top) * HEIGHT * 4)
            if 0 <= column < WIDTH * 2 and 0 <= row < HEIGHT * 4:
                bits[row // 4][column // 2] |= DOTS[row % 4][column % 2]
    return [[chr(0x2800 + value) if value else " " for value in row] for row in bits]


def _points(grid: list[list[str]], drawn: Sequence[Mark], right: float, top: float) -> None:
    """Points over the line, then each load beside its point where the row has room for it."""
    cells = [(min(WIDTH - 1, int(mark.x / right * WIDTH)), min(HEIGHT - 1, int((1 - mark.y / top) * HEIGHT))) for mark in drawn]
    for mark, (column, row) in zip(drawn, cells, strict=True):
        grid[row][column] = "○" if mark.point.disqualified else "●"
    for mark, (column, row) in zip(drawn, cells, strict=True):
        if mark.point.repeat:
            continue  # the first of its load carries the label
        text = quantity.level(mark.point.load)
        for start in (column + 2, column - 1 - len(text)):
            around = range(start - 1, start + len(text) + 1)
            if start >= 0 and start + len(text) <= WIDTH and all(_free(grid[row], at, column) for at in around):
                grid[row][start : start + len(text)] = text
                break


def _free(row: list[str], at: int, own: int) -> bool:
    """Whether a label may stand on or touch this character: blank, line, beyond the edge, or the label's own point."""
    return at == own or not 0 <= at < len(row) or row[at] == " " or 0x2800 < ord(row[at]) < 0x2900


def _with_axis(body: Sequence[str], top: float, unit: str) -> list[str]:
    labels = {0: quantity.significant(top), HEIGHT // 2: quantity.significant(top * (1 - (HEIGHT // 2) / HEIGHT))}
    labels[HEIGHT - 1] = "0"
    margin = max(len(text) for text in labels.values())
    rows = [f"{labels.get(row, ''):>{margin}} {'┤' if row in labels else '│'}{text}" for row, text in enumerate(body)]
    heading = f"{'':>{margin}} output {unit}"
    return [heading, *rows, f"{'':>{margin}} └{'─' * WIDTH}"]


def _foot(right: float, middle: str) -> str:
    end = quantity.significant(right)
    return " " * 8 + "0" + middle.center(WIDTH - len(end) - 2) + end
