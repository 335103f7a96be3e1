"""What keeps a sweep from doing harm, to a purse or to an endpoint; and what it says of an endpoint that misbehaves."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from servers import Answer, Asked, running

from sweep.cli import main
from sweep.curve import artifact
from sweep.curve.check import check
from sweep.errors import EndpointError, TrustError
from sweep.model import Cell, Curve, Endpoint, Expected, Live, Plan, Point
from sweep.run import Settings
from sweep.run import resume as go_on
from sweep.run import run as measure
from sweep.sim.faults import Faults
from sweep.sim.server import Process, start

PRESET = "synthetic-8b-bf16"
PLAN = ["--profile", "64/16", "--duration", "1s", "--yes", "--name", "run"]


def faulty(shares: dict[str, float]) -> Process:
    """A simulated endpoint whose faults spare the two requests of preflight."""
    seed = next(seed for seed in range(1000) if not any(Faults(shares, seed).of(number) for number in (0, 1)))
    return start(PRESET, faults=tuple(f"{fault}={share}" for fault, share in shares.items()), seed=seed)


def swept(url: str, out: Path, *more: str, code: int | tuple[int, ...] = 0) -> Curve:
    returned = main.run(["--endpoint", url, *PLAN, "--out", str(out), *more])
    assert returned in (code if isinstance(code, tuple) else (code,))
    return artifact.load(out / "run" / "run.curve.json")


def codes(point: Point) -> set[str]:
    return {finding.code for finding in point.findings}


def test_the_sweep_ends_when_the_tokens_are_spent(tmp_path: Path) -> None:
    curve = swept("sim", tmp_path, "--grid", "1,2,8,16", "--max-tokens", "4k", code=(0, 4))
    records = pl.read_parquet(tmp_path / "run" / "run.records.parquet")
    spent = records.filter(pl.col("sent_ns").is_not_null())["isl_asked"].sum() + records["osl"].sum()
    assert 2_000 <= spent < 5_000  # what is in flight is foreseen; a busy machine may be told of it late
    assert not curve.complete
    assert [finding.data for finding in curve.findings if finding.code == "token-cap"] == [{"tokens": 4000, "spent": spent}]


def test_doubling_ends_at_the_most_concurrency(tmp_path: Path) -> None:
    curve = swept("sim", tmp_path, "--max-concurrency", "3", "--duration", "500ms", code=(0, 4))
    assert {point.load.level for point in curve.points} == {1.0, 2.0, 3.0}
    assert max(point.concurrency_peak or 0 for point in curve.points) == 3
    assert curve.complete


def test_a_cell_stops_when_most_of_its_requests_fail(tmp_path: Path) -> None:
    """Long before its duration."""
    with faulty({"truncated": 0.9}) as served:
        began = time.monotonic()
        curve = swept(served.url, tmp_path, "--grid", "8", "--duration", "60s", code=4)
        assert time.monotonic() - began < 20
    point = curve.points[0]
    assert "aborted" in codes(point)
    assert point.disqualified
    assert point.outcomes_all["truncated"] >= 11
    assert sum(point.outcomes_all.values()) < 2_000


def test_doubling_does_not_go_on_into_failure(tmp_path: Path) -> None:
    def small(asked: Asked) -> Answer | None:
        return Answer(500, b"out of memory") if site.answering > 1 else None

    with running(small) as site:
        curve = swept(f"http://127.0.0.1:{site.port}", tmp_path, "--max-concurrency", "16", code=(0, 4))
    assert [point.load.level for point in curve.points if point.repeat == 0] == [1.0, 2.0]
    assert "failures" in codes(curve.points[1])
    assert curve.complete


def test_an_endpoint_that_fails_altogether_is_not_hammered(tmp_path: Path) -> None:
    def broken(asked: Asked) -> Answer | None:
        return None if asked.preflight else Answer(500, b"out of memory")

    with running(broken) as site:
        curve = swept(f"http://127.0.0.1:{site.port}", tmp_path, "--grid", "8", "--duration", "60s", code=3)
    assert "no-success" in codes(curve.points[0])
    assert len(site.asked) < 100


def test_a_rate_limit_is_capacity_and_not_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """429 with Retry-After has an outcome and a finding of its own."""
    with faulty({"rate_limited": 0.1}) as served:
        curve = swept(served.url, tmp_path, "--grid", "4", code=(0, 4))
    point = curve.points[0]
    assert point.outcomes["rate_limited"] > 0
    assert "failures" not in codes(point)
    assert set(point.outcomes_all) <= {"ok", "rate_limited", "cut"}
    limited = next(finding for finding in point.findings if finding.code == "rate-limited")
    assert limited.data["count"] == point.outcomes["rate_limited"]
    assert [limited.data[name] for name in ("retry_after_s", "retry_after_min_s", "retry_after_max_s")] == [1, 1, 1]
    assert check(tmp_path / "run" / "run.curve.json").problems == ()
    assert "refused" in capfd.readouterr().err
    records = pl.read_parquet(tmp_path / "run" / "run.records.parquet")
    assert set(records.filter(pl.col("outcome") == "rate_limited")["status"]) == {429}


def test_doubling_ends_where_the_endpoint_refuses(tmp_path: Path) -> None:
    def limited(asked: Asked) -> Answer | None:
        return Answer(429, b"slow down", headers={"Retry-After": "1"}) if site.answering > 2 else None

    with running(limited) as site:
        curve = swept(f"http://127.0.0.1:{site.port}", tmp_path, "--max-concurrency", "64", code=(0, 4))
    assert [point.load.level for point in curve.points if point.repeat == 0] == [1.0, 2.0, 4.0]
    assert "rate-limited" in codes(curve.points[2])
    assert curve.complete


OUTCOMES = {
    "unavailable": "http_error",
    "truncated": "truncated",
    "error_event": "stream_error",
    "wrong_type": "malformed",
    "rate_limited": "rate_limited",
}


def test_each_fault_is_counted_as_what_it_is(tmp_path: Path) -> None:
    with faulty(dict.fromkeys(OUTCOMES, 0.06)) as served:
        curve = swept(served.url, tmp_path, "--grid", "8", "--duration", "2s", code=4)
    point = curve.points[0]
    assert set(point.outcomes) == {"ok", *OUTCOMES.values()}
    assert sum(point.outcomes.values()) == point.cohort
    failures = next(finding for finding in point.findings if finding.code == "failures")
    failed = {name: count for name, count in point.outcomes.items() if name not in ("ok", "rate_limited")}
    assert failures.data["share"] == pytest.approx(sum(failed.values()) / point.cohort)
    assert all(f"{count} {name}" in failures.data["what"] for name, count in failed.items())
    assert f"{failed['http_error']} http_error(503)" in failures.data["what"]
    assert failures.data["busy"] == failed["http_error"]


# --- an endpoint that dies -------------------------------------------------------------------------------------------


@dataclass
class Eye:
    """Watches a sweep and says when a cell begins."""

    began: Callable[[Cell], None] = lambda cell: None
    cells: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def planned(self, plan: Plan, endpoint: Endpoint, expected: Expected) -> bool:
        return True

    def cell_started(self, cell: Cell) -> None:
        self.cells.append(cell.id)
        self.began(cell)

    def live(self, cell: Cell, live: Live) -> None: ...
    def cell_done(self, point: Point) -> None: ...

    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None:
        self.curves.append(curve)


@dataclass
class Mortal:
    """A simulated endpoint that dies, and comes back on the same port."""

    process: Process
    timers: list[threading.Timer] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.process.url

    def dies(self, after_s: float) -> None:
        self._later(after_s, lambda: self.process.popen.send_signal(signal.SIGKILL))

    def returns(self, after_s: float) -> None:
        self._later(after_s, self.back)

    def back(self) -> None:
        self.process.stop()
        self.process = start(PRESET, port=int(self.url.rpartition(":")[2]))

    def _later(self, after_s: float, what: Callable[[], None]) -> None:
        self.timers.append(threading.Timer(after_s, what))
        self.timers[-1].start()


@pytest.fixture
def mortal() -> Iterator[Mortal]:
    one = Mortal(start(PRESET))
    yield one
    for timer in one.timers:
        timer.join()
    one.process.stop()


def settings(endpoint: str, out: Path, **more: float) -> Settings:
    return Settings(
        endpoint=endpoint, profiles=("128/32",), grid="1,8,2", duration_s=1.0, out=out, name="run", seed=9, **more
    )  # fmt: skip


def test_an_endpoint_that_comes_back_spoils_no_cell(mortal: Mortal, tmp_path: Path) -> None:
    def began(cell: Cell) -> None:
        if len(eye.cells) == 2:
            mortal.dies(0.5)
            mortal.returns(3.0)

    eye = Eye(began)
    with suppress(TrustError):  # what a busy machine does to the points is not the matter here
        measure(settings(mortal.url, tmp_path), eye)
    curve = eye.curves[0]
    assert eye.cells == ["c1.0", "c8.0", "c8.0", "c2.0"]
    assert [point.load.level for point in curve.points] == [1.0, 8.0, 2.0]
    assert curve.complete
    assert all(set(point.outcomes_all) <= {"ok", "cut"} for point in curve.points)
    assert [finding.data for finding in curve.findings if finding.code == "endpoint-lost"] == [{"count": 1}]
    assert pl.read_parquet(tmp_path / "run" / "run.records.parquet")["request"].is_unique().all()


def test_an_endpoint_that_does_not_come_back_costs_one_cell(mortal: Mortal, tmp_path: Path) -> None:
    def began(cell: Cell) -> None:
        if cell.load.level == 8:
            mortal.dies(0.5)

    eye = Eye(began)
    with pytest.raises(EndpointError, match="stopped answering at c8") as gone:
        measure(settings(mortal.url, tmp_path, recovery_s=0.5), eye)
    assert gone.value.hint == f"when it is back: sweep resume {tmp_path / 'run'}"
    partial = artifact.load(tmp_path / "run" / "run.curve.json")
    assert eye.curves == [partial] or eye.curves[0].points == partial.points
    assert [point.load.level for point in partial.points] == [1.0]
    assert not partial.complete
    mortal.back()
    eye = Eye()
    with suppress(TrustError):
        go_on(tmp_path / "run", eye)
    resumed = eye.curves[0]
    assert [point.load.level for point in resumed.points] == [1.0, 8.0, 2.0]
    assert resumed.complete
    assert resumed.points[0] == partial.points[0]
