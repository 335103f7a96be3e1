"""What must hold of any sweep of any server: every request is accounted for, events are in order, the server's own figures agree."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from engines.engine import Engine

import sweep
from sweep.model import Curve


@dataclass(frozen=True)
class Swept:
    """`counted`: by how much each counter of the server grew through the sweep alone, preflight subtracted."""

    curve: Curve
    records: pl.DataFrame
    counted: dict[str, float]

    @property
    def ok(self) -> pl.DataFrame:
        return self.records.filter(pl.col("outcome") == "ok")

    @property
    def cut(self) -> int:
        """Requests still running when their cell ended: the server counts a part of them, or nothing."""
        return len(self.records.filter(pl.col("outcome") == "cut"))

    def mean_s(self, begin: str, end: str, rows: pl.DataFrame | None = None) -> float:
        kept = (self.ok if rows is None else rows).drop_nulls([begin, end])
        return float((kept[end] - kept[begin]).mean()) / 1e9  # type: ignore[arg-type]

    @property
    def mean_tpot_s(self) -> float:
        """As servers count it: 0 for an answer of one token, which a start in mid-flight may ask for."""
        per_token = (pl.col("last_ns") - pl.col("first_ns")) / (pl.col("osl") - 1).clip(lower_bound=1)
        return float(self.ok.select(per_token.mean()).item()) / 1e9


def sweep_of(
    engine: Engine, out: Path, command: Sequence[str], env: dict[str, str], *options: str, counters: Sequence[str] = ()
) -> Swept:
    """The sweep of an engine by the command line. Points without success, or disqualified, are for the caller to mind."""
    plan = [*command, "--endpoint", engine.url, "--yes", "--no-canary", "--out", str(out), *options]

    def counted(*more: str) -> dict[str, float]:
        before = {name: engine.counter(name) for name in counters}
        ended = subprocess.run([*plan, *more], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400)
        assert ended.returncode in (0, 3, 4), ended.stderr[-3000:]
        return {name: engine.counter(name) - before[name] for name in counters}

    preflight, whole = counted("--dry-run"), counted("--name", "swept")
    folder = out / "swept"
    return Swept(
        sweep.load(folder / "swept.curve.json").curve,
        pl.read_parquet(folder / "swept.records.parquet"),
        {name: whole[name] - preflight[name] for name in counters},
    )


def conserved(swept: Swept) -> None:
    for point in swept.curve.points:
        of_cell = swept.records.filter(pl.col("cell") == point.cell)
        assert sum(point.outcomes_all.values()) == len(of_cell)
        assert sum(point.outcomes.values()) == point.cohort == len(of_cell.filter(pl.col("phase") == "measured")) > 0
    assert swept.records["request"].is_unique().all()


def in_order(swept: Swept) -> None:
    for earlier, later in [("planned_ns", "sent_ns"), ("sent_ns", "first_ns"), ("first_ns", "last_ns"), ("last_ns", "end_ns")]:
        assert (swept.ok[earlier] <= swept.ok[later]).all()


def as_asked(swept: Swept) -> None:
    """Output to the token, prompts within 5 %: a warm-up of a start in mid-flight asks for less and sends more."""
    ok = swept.ok
    kept = ok["osl"] == ok["osl_asked"] if swept.curve.endpoint.osl_honoured else ok["osl"] <= ok["osl_asked"]
    assert kept.all()
    assert ((ok["isl"] - ok["isl_asked"]).abs() <= 0.05 * ok["isl_asked"]).all()
