"""What a person sees while a sweep runs: a bar with the time left on a terminal, plain lines anywhere else. All of it on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sweep.model import Cell, Curve, Endpoint, Expected, Live, Load, Plan, Point
from sweep.report import quantity, text, words
from sweep.report.foreign import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

Agree = Callable[[Plan, Endpoint, Expected], bool]
Done = Callable[[Curve, dict[str, Path]], None]
LINE_EVERY_S = 10.0
STAGES = {"start": "warming up", "window": "measuring", "tail": "finishing"}


def cell_line(point: Point, took_s: float, unit: str = "tok/s") -> str:
    """One measured cell in a line: `c16   584 tok/s   TTFT 202 ms, p99 342 ms   TPOT 27.4 ms   24 s`."""
    speed = quantity.rate(point)
    ttft, tail = quantity.metric(point, "ttft_s", "p50"), quantity.metric(point, "ttft_s", "p99")
    tpot = quantity.metric(point, "tpot_s", "p50")
    parts = [
        f"{_label(point):<6}{quantity.significant(speed.value if speed else None):>7} {unit}",
        f"TTFT {quantity.seconds(ttft.value if ttft else None)}, p99 {quantity.seconds(tail.value if tail else None)}",
        f"TPOT {quantity.seconds(tpot.value if tpot else None)}",
    ]
    bad = quantity.failed(point)
    parts += [f"{bad} of {point.cohort} failed"] if bad else []
    refused = quantity.refused(point)
    parts += [f"{refused} of {point.cohort} refused"] if refused else []
    reasons = dict.fromkeys(found.code for found in point.findings if words.weight(found.code) == "disqualifies")
    parts += [f"✗ {', '.join(reasons)}"] if reasons else ["✗"] if point.disqualified else []
    return "   ".join([*parts, quantity.duration(took_s)])


def _label(point: Point) -> str:
    return _load(point.load) + (f"·{point.repeat + 1}" if point.repeat else "")


def _load(load: Load) -> str:
    return load.label if load.kind == "closed" else quantity.level(load)


def live_line(cell: Cell, live: Live, unit: str = "tok/s") -> str:
    """What the running cell shows: `c16 measuring 12 s, 8 s left   1,204 tok/s   TTFT 45.0 ms   16 in flight`."""
    left = "" if live.left_s is None else f", {quantity.duration(live.left_s)} left"
    parts = [
        f"{_load(cell.load):<5} {STAGES[live.stage]} {quantity.duration(live.elapsed_s)}{left}",
        f"{quantity.significant(live.output_tok_per_s)} {unit}",
        f"TTFT {quantity.seconds(live.ttft_p50_s)}",
    ]
    parts += [f"{live.failed} failed"] if live.failed else []
    parts += [f"{live.refused} refused"] if live.refused else []
    return "   ".join(parts)


class Pace:
    """How long the rest of a sweep will take: by the plan before the first cell, by the latest cell afterwards."""

    def __init__(self, expected: Expected) -> None:
        self.cells = expected.cells
        self._expected_s = expected.seconds
        self.done = 0
        self._cell_s: float | None = None

    def cell_took(self, seconds: float) -> None:
        self.done += 1
        self._cell_s = seconds

    def left_s(self, in_cell_s: float, cell_left_s: float | None) -> float | None:
        """None while nothing is known. Cells get longer with load, so the latest one says more than their mean."""
        after = max(0, self.cells - self.done - 1)
        if self._cell_s is None:
            return None if self._expected_s is None else max(0.0, self._expected_s - in_cell_s)
        current = cell_left_s if cell_left_s is not None else max(0.0, self._cell_s - in_cell_s)
        return current + after * self._cell_s


class Watcher:
    """Shows a run as it goes on; use it as a context manager so that the terminal is left clean whatever happens.

    `agree` is asked once a plan whether to go on; `done` gets each finished curve.
    """

    def __init__(self, console: Console, agree: Agree, done: Done, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._agree = agree
        self._done = done
        self._clock = clock
        self._pace = Pace(Expected(cells=1))
        self._others: list[Pace] = []
        self._turn = ""
        self._paces: dict[tuple[str, str], Pace] = {}  # by turn and profile
        self._units: dict[tuple[str, str], str] = {}
        self._unit = "tok/s"
        self._began_s = 0.0
        self._said_s = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def turn(self, place: str) -> None:
        self._turn = place

    def planned(self, plan: Plan, endpoint: Endpoint, expected: Expected) -> bool:
        for line in text.plan_lines(plan, endpoint, expected):
            self._say(self._named(visible(line)))
        self._say("")
        self._paces[self._turn, plan.profile.name] = Pace(expected)
        self._units[self._turn, plan.profile.name] = endpoint.rate_unit
        return self._agree(plan, endpoint, expected)

    def cell_started(self, cell: Cell) -> None:
        key = (self._turn, cell.profile.name)
        self._pace = self._paces.setdefault(key, Pace(Expected(cells=1)))
        self._others = [pace for (turn, name), pace in self._paces.items() if name == key[1] and turn != key[0]]
        self._unit = self._units.get(key, "tok/s")
        self._began_s = self._said_s = self._clock()
        if self._console.is_terminal:
            self._start()
            self._show(self._named(f"{_load(cell.load):<5} starting"), None)

    def live(self, cell: Cell, live: Live) -> None:
        now = self._clock()
        line = self._named(live_line(cell, live, self._unit))
        if self._bar is not None:
            self._show(line, self._left_s(now - self._began_s, live.left_s))
        elif now - self._said_s >= LINE_EVERY_S:
            self._said_s = now
            self._say(f"  {line}")

    def cell_done(self, point: Point) -> None:
        took_s = self._clock() - self._began_s
        self._pace.cell_took(took_s)
        self._say(self._named(cell_line(point, took_s, self._unit)))
        if self._bar is not None:
            self._show("", self._left_s(0.0, None))

    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None:
        self._stop()
        self._done(curve, paths)

    def _named(self, line: str) -> str:
        return f"{self._turn}  {line}" if self._turn else line

    def _left_s(self, in_cell_s: float, cell_left_s: float | None) -> float | None:
        """Of all who take turns; None while it is not known of one."""
        each = [
            self._pace.left_s(in_cell_s, cell_left_s),
            *(pace.left_s(0.0, None) for pace in self._others if pace.done < pace.cells),
        ]
        return None if None in each else sum(left for left in each if left is not None)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        if self._bar is None:
            columns = (
                BarColumn(bar_width=16),
                TextColumn("{task.completed:.0f}/{task.total:.0f}", markup=False),
                TextColumn("{task.fields[left]}", style="bold", markup=False),
                TextColumn("{task.description}", markup=False),
            )
            self._bar = Progress(*columns, console=self._console, transient=True, redirect_stdout=False, redirect_stderr=False)
            self._task = self._bar.add_task("", total=self._pace.cells, left="")
            self._bar.start()

    def _show(self, line: str, left_s: float | None) -> None:
        if self._bar is not None and self._task is not None:
            left = "" if left_s is None else f"{quantity.duration(left_s)} left"
            paces = (self._pace, *self._others)
            done = sum(pace.done for pace in paces)
            total = max(sum(pace.cells for pace in paces), done + 1)
            self._bar.update(self._task, description=line, left=left, completed=done, total=total)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None
