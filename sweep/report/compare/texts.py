"""Texts in the overlay: names at the lines, loads at the points, ends beyond which nothing was reached. None covers another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from typing import TYPE_CHECKING, Any

from sweep.report.labels import Box, place
from sweep.report.pixels import box_of, pixel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEAR = 70.0  # pixels beyond which a name is far enough from everything else
HALF_MARK = 6.0
GAP = 8.0  # between a point and its load


def write(ax: Axes, drawn: Sequence[Mapping[str, Any]]) -> None:
    """`drawn`: for each side its `label`, `name`, `colour`, and where `line`, `points`, `levels` and `vertices` lie."""
    marks = [_around(pixel(ax, spot), HALF_MARK) for each in drawn for spot in each["points"]]
    taken = [*_names(ax, drawn, marks), *marks]
    taken += _loads(ax, drawn, taken)
    _ends(ax, drawn, taken)


def _names(ax: Axes, drawn: Sequence[Mapping[str, Any]], marks: Sequence[Box]) -> list[Box]:
    """Each name at its own line, where everything else is farthest."""
    paths = [[pixel(ax, spot) for spot in (*each["line"], *each["points"])] for each in drawn]
    frame = box_of_axes(ax)
    taken: list[Box] = []
    for index, each in enumerate(drawn):
        text = ax.text(0, 0, each["name"], color=each["colour"], weight="bold", fontsize=9.5, zorder=6, parse_math=False)
        size = box_of(text)
        width, height = size.right - size.left, size.top - size.bottom
        others = [spot for other, path in enumerate(paths) if other != index for spot in path]
        best: tuple[float, Box] | None = None
        for x, y in paths[index]:
            for dx, dy in ((10, 8), (10, -8 - height), (-10 - width, -8 - height), (-10 - width, 8)):
                box = Box(x + dx, y + dy, x + dx + width, y + dy + height)
                if not box.inside(frame) or any(box.overlaps(other) for other in (*taken, *marks)):
                    continue
                room = min(NEAR, *(_gap(box, spot) for spot in others), *(6 * _gap(box, spot) for spot in paths[index]))
                if best is None or room > best[0]:
                    best = (room, box)
        if best is None:
            text.remove()
            continue
        _move(ax, text, best[1])
        taken.append(best[1])
    return taken


def _loads(ax: Axes, drawn: Sequence[Mapping[str, Any]], taken: Sequence[Box]) -> list[Box]:
    """Each load once, beside its first point."""
    named = [
        (spot, level, each["colour"])
        for each in drawn
        for level, spot in zip(each["levels"], each["points"], strict=True)
        if level
    ]
    texts = [
        ax.text(0, 0, level, fontsize=8, color=colour, ha="center", va="center", zorder=7, parse_math=False)
        for _, level, colour in named
    ]
    sizes = [(box.right - box.left + 2, box.top - box.bottom) for box in map(box_of, texts)]
    anchors = [pixel(ax, spot) for spot, _, _ in named]
    track = [pixel(ax, spot) for each in drawn for spot in each["line"]]
    found = place(anchors, sizes, box_of_axes(ax), gap=GAP, taken=taken, track=track)
    boxes = []
    for text, spot, (width, height) in zip(texts, found, sizes, strict=True):
        if spot is None or spot.leader:  # too far off to say which point it means
            text.remove()
            continue
        text.set_position(tuple(ax.transData.inverted().transform((spot.x, spot.y))))
        boxes.append(Box(spot.x - width / 2, spot.y - height / 2, spot.x + width / 2, spot.y + height / 2))
    return boxes


def _ends(ax: Axes, drawn: Sequence[Mapping[str, Any]], taken: list[Box]) -> None:
    """Beyond its last vertex a side was not seen to reach."""
    floor, frame = ax.get_ylim()[0], box_of_axes(ax)
    for each in drawn:
        if not each["vertices"]:
            continue
        x, y = each["vertices"][-1]
        ax.plot([x, x], [floor, y], color=each["colour"], linewidth=1, linestyle=(0, (2, 3)), zorder=2)
        text = ax.text(0, 0, f"{each['label']} unreachable →", fontsize=7.5, color=each["colour"], zorder=6, parse_math=False)
        size, (at, base) = box_of(text), pixel(ax, (x, floor))
        width, height = 1.06 * (size.right - size.left), size.top - size.bottom
        spots = [
            Box(left, base + up, left + width, base + up + height)
            for up in (6, 22, 38, 54)
            for left in (at + 5, at - 5 - width)
        ]
        free = next((box for box in spots if box.inside(frame) and not any(box.overlaps(other) for other in taken)), None)
        if free is None:
            text.remove()
            continue
        _move(ax, text, free)
        taken.append(free)


def box_of_axes(ax: Axes) -> Box:
    frame = ax.get_window_extent()
    return Box(frame.x0, frame.y0, frame.x1, frame.y1)


def _move(ax: Axes, text: Any, box: Box) -> None:
    """Left and bottom of the text to those of the box, whatever its descenders are."""
    text.set_verticalalignment("bottom")
    text.set_position(tuple(ax.transData.inverted().transform((box.left, box.bottom))))


def _around(spot: tuple[float, float], half: float) -> Box:
    return Box(*spot, *spot).around(half)


def _gap(box: Box, spot: tuple[float, float]) -> float:
    return hypot(max(box.left - spot[0], 0.0, spot[0] - box.right), max(box.bottom - spot[1], 0.0, spot[1] - box.top))
