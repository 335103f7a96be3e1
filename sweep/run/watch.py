"""Who is told what happens in a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sweep.model import Cell, Curve, Endpoint, Expected, Live, Plan, Point


class Watch(Protocol):
    """Who is told what happens. `planned` answers whether to go on."""

    def planned(self, plan: Plan, endpoint: Endpoint, expected: Expected) -> bool: ...
    def cell_started(self, cell: Cell) -> None: ...
    def live(self, cell: Cell, live: Live) -> None: ...
    def cell_done(self, point: Point) -> None: ...
    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None: ...
