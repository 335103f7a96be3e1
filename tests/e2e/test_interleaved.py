"""Two endpoints in alternation, live: the order in the files, what the pairing is worth, and nothing measured is lost."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from servers import Asked, running

from sweep.curve import artifact
from sweep.curve.compare.together import compare
from sweep.errors import EndpointError
from sweep.model import Cell, Curve, Fact
from sweep.run import Settings, interleave, resume
from sweep.sim.server import start

PLAN = ["--profile", "64/16", "--duration", "400ms", "--workers", "1", "--yes", "--no-canary", "--name", "ab"]
Begin = Callable[..., "subprocess.Popen[str]"]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]


def curves(out: Path) -> list[Curve]:
    return [artifact.load(out / f"ab-{place}" / f"ab-{place}.curve.json") for place in "AB"]


def in_order_of_time(both: list[Curve]) -> str:
    begun = [
        (point.window.begin_ns, label)
        for label, curve in zip("AB", both, strict=True)
        for point in curve.points
        if point.window
    ]
    return "".join(label for _, label in sorted(begun))


def test_cells_alternate_and_what_moves_both_drops_out(sweep_command: Sweep, tmp_path: Path) -> None:
    """Both sites get slower and slower together; the second is a little slower all along."""
    began = time.monotonic()

    def slower(factor: float) -> Callable[[Asked], None]:
        def wait(asked: Asked) -> None:
            if asked.method == "POST" and not asked.preflight:
                time.sleep(factor * (0.02 + 0.012 * (time.monotonic() - began)))

        return wait

    with running(slower(1.0)) as a, running(slower(1.15)) as b:
        urls = [part for site in (a, b) for part in ("--endpoint", f"http://127.0.0.1:{site.port}")]
        sweep_command("run", *urls, "--interleave", *PLAN, "--grid", "2", "--repeat", "4", "--out", tmp_path, expect=None)
    both = [msgspec.structs.replace(one, points=tuple(map(trusted, one.points))) for one in curves(tmp_path)]
    assert in_order_of_time(both) == "ABBAABBA"
    place = 0.5 * min(one.points[0].rates["output_tok_per_s"].value or 0 for one in both) / 2
    paired, apart = compare(both, at=[place]), compare([unpaired(one) for one in both], at=[place])
    assert (paired.paired, apart.paired) == (True, False)
    with_pairs, without = paired.verdicts[0].ratio, apart.verdicts[0].ratio
    assert with_pairs.value == without.value
    assert width(with_pairs) < 0.8 * width(without)


def trusted(point: Any) -> Any:
    """Whatever this machine's client was called: here the endpoints drift on purpose."""
    return msgspec.structs.replace(point, disqualified=False)


def unpaired(curve: Curve) -> Curve:
    return msgspec.structs.replace(curve, scenario={**curve.scenario, "interleaved": Fact(value=None, known="missing")})


def width(ratio: Any) -> float:
    return float(ratio.high - ratio.low)


def test_ctrl_c_keeps_what_both_have(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path) -> None:
    ends = ["--endpoint", "sim", "--endpoint", "sim:synthetic-120b-moe", "--interleave"]
    process = begin_sweep("run", *ends, *PLAN, "--grid", "1,2,4", "--out", tmp_path)
    assert process.stderr is not None
    said = []
    while sum(line[3:4] == "c" for line in said) < 3:
        said.append(process.stderr.readline())
        assert said[-1], "it ended early"
    assert [line[0] for line in said if line[3:4] == "c"] == ["A", "B", "B"]
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    folders = [tmp_path / f"ab-{place}" for place in "AB"]
    assert all(f"sweep resume {folder} goes on" in told for folder in folders)
    before = curves(tmp_path)
    assert [len(one.points) for one in before] in ([1, 2], [2, 2])  # a cell may have ended in that very moment
    sweep_command("resume", folders[0], expect=None)
    after = curves(tmp_path)[0]
    assert [point.load.level for point in after.points] == [1, 2, 4]
    assert after.points[: len(before[0].points)] == before[0].points
    assert "interleaved" in before[0].scenario
    assert "interleaved" not in after.scenario  # the rest was measured alone


class Eye:
    """Watches a sweep and does something when a cell of a turn begins."""

    def __init__(self, began: Callable[[str, Cell], None]) -> None:
        self.began, self.place = began, ""

    def turn(self, place: str) -> None:
        self.place = place

    def planned(self, *anything: Any) -> bool:
        return True

    def cell_started(self, cell: Cell) -> None:
        self.began(self.place, cell)

    def live(self, *anything: Any) -> None: ...
    def cell_done(self, *anything: Any) -> None: ...
    def curve_done(self, *anything: Any) -> None: ...


def test_one_that_dies_takes_nothing_of_the_other_along(tmp_path: Path) -> None:
    a, b = start("synthetic-8b-bf16"), start("synthetic-8b-bf16")
    killers: list[threading.Timer] = []

    def dies(place: str, cell: Cell) -> None:
        if (place, cell.load.level) == ("B", 2.0):
            killers.append(threading.Timer(0.3, b.popen.kill))
            killers[-1].start()

    common: dict[str, Any] = {
        "profiles": ("64/16",), "grid": "1,2", "duration_s": 0.4, "workers": 1, "canary": False, "name": "ab", "out": tmp_path, "recovery_s": 0.5,
    }  # fmt: skip
    turns = [
        Settings(endpoint=one.url, interleaved={"group": "g", "place": place, "order": "ABBA"}, **common)
        for place, one in (("A", a), ("B", b))
    ]
    try:
        with pytest.raises(EndpointError) as caught:
            interleave(turns, Eye(dies))
        assert caught.value.exit_code == 3
        assert caught.value.hint is not None
        assert all(str(tmp_path / f"ab-{place}") in caught.value.hint for place in "AB")
        assert [[point.load.level for point in one.points] for one in curves(tmp_path)] == [[1.0], [1.0]]
        assert all((tmp_path / f"ab-{place}" / f"ab-{place}.html").exists() for place in "AB")
        b.stop()
        b = start("synthetic-8b-bf16", port=int(b.url.rpartition(":")[2]))
        resume(tmp_path / "ab-B", Eye(lambda place, cell: None))
        assert [point.load.level for point in curves(tmp_path)[1].points] == [1.0, 2.0]
    finally:
        for killer in killers:
            killer.cancel()
        a.stop()
        b.stop()
