from __future__ import annotations

from io import StringIO
from typing import Any

import msgspec
import pytest
import sample_curves
from rich.console import Console

from sweep.model import Cell, Expected, Limits, Live, Load
from sweep.report.progress import Pace, Watcher, cell_line, live_line

CURVE = sample_curves.curve()
CELL = Cell(index=0, profile=CURVE.profile, load=Load(kind="closed", level=16), limits=Limits(), start="cold", seed=0)
LIVE = Live(
    elapsed_s=12.0, left_s=8.0, ended=90, failed=0, in_flight=16, output_tok_per_s=1204.0, ttft_p50_s=0.045, stage="window"
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_cell_in_a_line() -> None:
    assert cell_line(sample_curves.point(16, 0), 24.2) == "c16       584 tok/s   TTFT 202 ms, p99 342 ms   TPOT 27.4 ms   24 s"
    assert "7 of 400 failed   ✗   1 s" in cell_line(sample_curves.point(1, 0, disqualified=True), 1)
    open_loop = Load(kind="constant", level=16)
    point = msgspec.structs.replace(sample_curves.point(16, 0), load=open_loop)
    assert cell_line(point, 1).startswith("16/s      584 tok/s")
    assert live_line(msgspec.structs.replace(CELL, load=open_loop), LIVE).startswith("16/s  measuring")
    assert live_line(CELL, msgspec.structs.replace(LIVE, failed=2, refused=3)).endswith("45.0 ms   2 failed   3 refused")
    assert live_line(CELL, LIVE) == "c16   measuring 12 s, 8 s left   1,204 tok/s   TTFT 45.0 ms"


def test_time_left_by_the_plan_then_by_the_latest_cell() -> None:
    pace = Pace(Expected(cells=4, seconds=100.0))
    assert pace.left_s(10.0, None) == 90.0
    pace.cell_took(30.0)
    assert pace.left_s(0.0, None) == 90.0  # this one and two more
    assert pace.left_s(10.0, None) == 80.0
    assert pace.left_s(10.0, 5.0) == 65.0
    assert Pace(Expected(cells=4)).left_s(10.0, None) is None


@pytest.mark.parametrize("growth", [1.0, 1.05, 1.1])
def test_time_left_after_the_first_cell_is_honest_within_30_percent(growth: float) -> None:
    cells = [20.0 * growth**index for index in range(6)]
    pace = Pace(Expected(cells=6, seconds=1000.0))
    pace.cell_took(cells[0])
    assert pace.left_s(0.0, None) == pytest.approx(sum(cells[1:]), rel=0.3)


def watched(terminal: bool) -> tuple[str, list[Any]]:
    finished: list[Any] = []
    clock = Clock()
    console = Console(file=StringIO(), width=80, force_terminal=terminal, color_system=None)
    with Watcher(console, lambda plan, endpoint, expected: True, lambda curve, paths: finished.append(curve), clock) as watch:
        assert watch.planned(CURVE.plan, CURVE.endpoint, Expected(cells=2, seconds=40.0))
        watch.cell_started(CELL)
        for clock.now in (1.0, 11.0, 12.0, 22.0):
            watch.live(CELL, LIVE)
        watch.cell_done(sample_curves.point(16, 0))
        watch.curve_done(CURVE, {})
    assert isinstance(console.file, StringIO)
    return console.file.getvalue(), finished


def test_plain_lines_where_there_is_no_terminal() -> None:
    out, finished = watched(terminal=False)
    assert finished == [CURVE]
    assert "\x1b" not in out
    assert out.count("measuring") == 2  # every ten seconds
    assert out.splitlines()[-1].startswith("c16       584 tok/s")
    assert "about      2 cells" in out


def test_a_bar_on_a_terminal() -> None:
    out, finished = watched(terminal=True)
    assert finished == [CURVE]
    assert "0/2" in out
    assert "c16       584 tok/s" in out


def test_of_several_endpoints_each_line_says_whose_it_is() -> None:
    console = Console(file=StringIO(), width=120, color_system=None)
    with Watcher(console, lambda plan, endpoint, expected: True, lambda curve, paths: None, Clock()) as watch:
        for place in "AB":
            watch.turn(place)
            watch.planned(CURVE.plan, CURVE.endpoint, Expected(cells=2, seconds=40.0))
        for place in "ABBA":
            watch.turn(place)
            watch.cell_started(CELL)
            watch.cell_done(sample_curves.point(16, 0))
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert [line[:6] for line in lines[-4:]] == ["A  c16", "B  c16", "B  c16", "A  c16"]
    assert any(line.startswith("B  endpoint ") for line in lines)
