"""Where a label goes so that no two overlap: greedy, in pixels, the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        return self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top

    def inside(self, other: Box) -> bool:
        return other.left <= self.left and self.right <= other.right and other.bottom <= self.bottom and self.top <= other.top

    def around(self, margin: float) -> Box:
        return Box(self.left - margin, self.bottom - margin, self.right + margin, self.top + margin)


@dataclass(frozen=True, slots=True)
class Place:
    """The centre of a label and whether it is so far from its point that a leader line helps."""

    x: float
    y: float
    leader: bool


# Most wanted first: the four diagonals, then straight, then between.
ANGLES = tuple(angle * pi / 12 for angle in (3, 9, 21, 15, 6, 18, 0, 12, 1, 11, 23, 13, 4, 8, 20, 16))
# Pixels beyond the gap; far ones get a leader line.
RINGS = (0.0, 6.0, 14.0, 24.0, 36.0, 52.0)


def place(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: Box,
    *,
    gap: float,
    taken: Sequence[Box] = (),
    track: Sequence[tuple[float, float]] = (),
) -> list[Place | None]:
    """A place for each label near its anchor, inside `area`, off the other labels, the anchors, `taken` and, if it can, `track`.

    `gap` is the distance kept from the anchor; `track` are points of a line that labels had better not cover. A label for
    which nothing is free is None.
    """
    marks = [Box(x, y, x, y).around(gap * 0.7) for x, y in anchors]
    placed: list[Box] = list(taken)
    places: list[Place | None] = []
    for (x, y), (width, height) in zip(anchors, sizes, strict=True):
        best: tuple[int, Place, Box] | None = None
        for ring in RINGS:
            for angle in ANGLES:
                # the label's edge, not its centre, keeps the distance
                reach_x, reach_y = gap + ring + width / 2, gap + ring + height / 2
                centre_x, centre_y = x + reach_x * cos(angle), y + reach_y * sin(angle)
                box = Box(centre_x - width / 2, centre_y - height / 2, centre_x + width / 2, centre_y + height / 2)
                if not box.inside(area) or any(box.overlaps(other) for other in (*placed, *marks)):
                    continue
                cost = sum(box.left < u < box.right and box.bottom < v < box.top for u, v in track)
                if best is None or cost < best[0]:
                    leader = hypot(centre_x - x, centre_y - y) > gap + 12 + max(width, height) / 2
                    best = (cost, Place(centre_x, centre_y, leader), box)
                if cost == 0:
                    break
            if best is not None and best[0] == 0:
                break
        places.append(None if best is None else best[1])
        if best is not None:
            placed.append(best[2])
    return places
