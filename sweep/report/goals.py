"""SLO bounds as lines in a panel, each named beside its line where it covers least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sweep.model import Curve, Slo
from sweep.report import quantity, style
from sweep.report.labels import Box
from sweep.report.marks import Spot
from sweep.report.pixels import along, box_of, pixel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_goals(ax: Axes, metric: str | None, curve: Curve, track: Sequence[Spot], *, more_is_better: bool) -> list[Box]:
    """A line for each bound of an SLO on this panel's metric; a bound outside the picture is named at the edge it lies behind."""
    bounds: dict[float, str] = {}
    for letter, slo in letters(curve):
        for bound in slo.bounds:
            if bound.metric == metric and bound.limit_s > 0:
                at = 1 / bound.limit_s if more_is_better else bound.limit_s
                bounds[at] = f"{bounds[at]}, {letter}" if at in bounds else f"{letter} {quantity.bound_text(bound)}".strip()
    low, high = ax.get_xlim()
    inside = [at for at in bounds if low < at < high]
    for at in inside:
        ax.axvline(at, color=style.GOAL, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
    floor, ceiling = ax.get_ylim()
    obstacles = [*track, *(spot for at in inside for spot in along(pixel(ax, (at, floor)), pixel(ax, (at, ceiling)), 60))]
    boxes: list[Box] = []
    for at, text in sorted(bounds.items()):
        said, where = (f"{text}  →", high) if at >= high else (f"←  {text}", low) if at <= low else (text, at)
        boxes.append(_beside(ax, where, said, boxes, obstacles, top=more_is_better))
    return boxes


def letters(curve: Curve) -> list[tuple[str, Slo]]:
    """Each SLO with the letter that stands for it in the picture; none where there is only one."""
    single = len(curve.slos) == 1
    return [("" if single else chr(ord("A") + index % 26), slo) for index, slo in enumerate(curve.slos)]


def _beside(ax: Axes, at: float, text: str, taken: Sequence[Box], track: Sequence[Spot], *, top: bool) -> Box:
    """Write `text` beside the line at `at`, inside the frame, off other labels and as far off the data as it can be."""
    label = ax.annotate(
        text,
        (at, 1.0 if top else 0.0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        xytext=(0, 0),
        va="top" if top else "bottom",
        fontsize=8,
        color=style.GOAL,
        zorder=6,
        parse_math=False,
    )
    frame = ax.get_window_extent()
    room = Box(frame.x0 - 1, frame.y0, frame.x1 + 1, frame.y1)
    best: tuple[int, int, str] | None = None
    for row in range(10):
        for side in ("left", "right"):
            box = _move(label, row, side, top)
            covered = sum(box.left < u < box.right and box.bottom < v < box.top for u, v in track)
            free = box.inside(room) and not any(box.overlaps(other) for other in taken)
            if free and (best is None or covered < best[0]):
                best = (covered, row, side)
    _, row, side = best or (0, 0, "left")
    return _move(label, row, side, top)


def _move(label: Any, row: int, side: str, top: bool) -> Box:
    offset = 4 + 12 * row
    label.set_horizontalalignment(side)
    label.set_position((5 if side == "left" else -5, -offset if top else offset))
    return box_of(label)
