"""Twelve nights of the real-time simulator, compressed: a build slowed by 6 % from the ninth on. When is it found?

Each night is a sweep of its own against a server of its own, dated a day after the one before. The machine's own noise is
in every number, so run it alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from sweep.curve import regress
from sweep.model import Cell, Curve, Endpoint, Expected, History, Live, Plan, Point
from sweep.run import Settings, run
from sweep.sim import server

NIGHTS, SLOWER_FROM, SLOWER_BY = 12, 9, 1.06
DURATION_S = 4.0


class Silent:
    """Watches without a word."""

    def turn(self, place: str) -> None: ...
    def planned(self, plan: Plan, endpoint: Endpoint, expected: Expected) -> bool:
        return True

    def cell_started(self, cell: Cell) -> None: ...
    def live(self, cell: Cell, live: Live) -> None: ...
    def cell_done(self, point: Point) -> None: ...
    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None: ...


def one_night(number: int, out: Path) -> Curve:
    scale = SLOWER_BY if number >= SLOWER_FROM else 1.0
    with server.start("synthetic-8b-bf16", time_scale=scale) as endpoint:
        settings = Settings(
            endpoint=endpoint.url,
            profiles=("96/24",),
            grid="1,2,4",
            duration_s=DURATION_S,
            seed=number,
            canary=False,
            out=out,
            name=f"night-{number:02d}",
        )
        (curve,) = run(settings, Silent())
    return msgspec.structs.replace(curve, created_at=f"2026-01-{number:02d}T02:00:00+00:00")


def row(number: int, history: History) -> str:
    latest = history.judged[-1]
    compared = history.timelines if latest.baseline else ()  # the first night has nothing to be compared with
    changes = (
        "  ".join(f"{line.title} {line.change[-1]:+.1%}" for line in compared if line.change and line.change[-1] is not None)
        or "–"
    )
    slower = f"slower by {SLOWER_BY - 1:.0%}" if number >= SLOWER_FROM else "as ever"
    return f"{number:5d}  {slower:14s}  {history.verdict:10s}  {latest.baseline:8d}  {changes}"


def main() -> None:
    print(f"{NIGHTS} nights of the real-time simulator, {SLOWER_BY - 1:.0%} slower from night {SLOWER_FROM} on\n")
    print("night  build           verdict     baseline  change of this night")
    with tempfile.TemporaryDirectory() as folder:
        out, nightly = Path(folder, "runs"), Path(folder, "nightly")
        for number in range(1, NIGHTS + 1):
            print(row(number, regress.gate(nightly, one_night(number, out))), flush=True)


if __name__ == "__main__":
    main()
