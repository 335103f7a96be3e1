"""Places in a picture in pixels, where labels are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sweep.report.labels import Box
from sweep.report.marks import Spot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def box_of(text: Any) -> Box:
    extent = text.get_window_extent(text.figure.canvas.get_renderer())
    return Box(extent.x0, extent.y0, extent.x1, extent.y1)


def pixel(ax: Axes, at: Spot) -> Spot:
    x, y = ax.transData.transform(at)
    return float(x), float(y)


def along(start: Spot, end: Spot, pieces: int = 16) -> list[Spot]:
    (x, y), (u, v) = start, end
    return [(x + (u - x) * step / pieces, y + (v - y) * step / pieces) for step in range(pieces + 1)]
