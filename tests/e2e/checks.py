"""What must hold of any sweep of any server: every request is accounted for, events are in order, the server's own figures agree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl
from conftest import CLEAN, COMMAND
from engines.engine import Engine
from observer import Exchange, watching

import sweep
from sweep.model import Curve

Row = dict[str, Any]
Figures = tuple[float, float, float, float]  # output tokens, means of TTFT, TPOT and E2E in seconds


@dataclass(frozen=True)
class Swept:
    """`counted`: by how much each counter of the server grew, preflight left out; `seen`: what an observer before the server saw
    of each request that was answered, by its number."""

    curve: Curve
    records: pl.DataFrame
    counted: dict[str, float] = field(default_factory=dict)
    seen: dict[int, Exchange] = field(default_factory=dict)

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

    def pairs(self) -> Iterator[tuple[Row, Exchange]]:
        """Each success and what the observer saw of it."""
        return ((row, self.seen[row["request"]]) for row in self.ok.iter_rows(named=True))


def sweep_of(engine: Engine, out: Path, *options: str, counters: Sequence[str] = ()) -> Swept:
    """A sweep of an engine, observed. Counters grow from the first request after preflight on."""
    before: dict[str, float] = {}

    def counts() -> dict[str, float]:
        return {name: engine.counter(name) for name in counters}

    with watching(engine.url, lambda: before.update(counts())) as (url, exchanges):
        made = plain_sweep(url, out, *options)
    return replace(with_seen(made, exchanges), counted={name: value - before[name] for name, value in counts().items()})


def plain_sweep(url: str, out: Path, *options: str) -> Swept:
    """By the command line. Points without success, or disqualified, are for the caller to mind."""
    plan = [*COMMAND, "--endpoint", url, "--yes", "--no-canary", "--out", str(out), "--name", "swept", *options]
    ended = subprocess.run(plan, env=CLEAN, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400)
    curve, records = (out / "swept" / f"swept.{kind}" for kind in ("curve.json", "records.parquet"))
    assert curve.exists(), ended.stderr[-3000:]
    return Swept(sweep.load(curve).curve, pl.read_parquet(records))


def with_seen(swept: Swept, exchanges: Sequence[Exchange]) -> Swept:
    numbered = {exchange.number: exchange for exchange in exchanges if exchange.reads}
    return replace(swept, seen={number: seen for number, seen in numbered.items() if number is not None})


def sound(swept: Swept, *also: str) -> None:
    """Every request is accounted for, in this life or the next; its events are in order. `also`: outcomes that may occur."""
    for point in swept.curve.points:
        of_cell = swept.records.filter(pl.col("cell") == point.cell)
        assert sum(point.outcomes_all.values()) == len(of_cell)
        assert sum(point.outcomes.values()) == point.cohort == len(of_cell.filter(pl.col("phase") == "measured")) > 0
    assert swept.records["request"].is_unique().all()
    assert set(swept.records["outcome"]) <= {"ok", "cut", "unsent", *also}
    for earlier, later in [("planned_ns", "sent_ns"), ("sent_ns", "first_ns"), ("first_ns", "last_ns"), ("last_ns", "end_ns")]:
        assert (swept.ok[earlier] <= swept.ok[later]).all()


def as_asked(swept: Swept) -> None:
    """Output to the token, prompts too where they are token ids, else within 5 %.

    A warm-up of a start in mid-flight asks for less and sends more.
    """
    ok = swept.ok
    kept = ok["osl"] == ok["osl_asked"] if swept.curve.endpoint.osl_honoured else ok["osl"] <= ok["osl_asked"]
    assert kept.all()
    slack = 0.0 if swept.curve.endpoint.takes_ids else 0.05
    assert ((ok["isl"] - ok["isl_asked"]).abs() <= slack * ok["isl_asked"]).all()


def as_observed(swept: Swept, streamed: bool = True) -> None:
    """Each request's times are the observer's, who stands nearer to the server: never earlier, and mostly by less than half a
    millisecond later, more where this machine kept the observer waiting between its stamp and its sending on."""
    late_ns = []
    for row, seen in swept.pairs():
        tokens_ns = seen.tokens_ns() if streamed else [seen.ended_ns]
        assert row["chunks"] == len(tokens_ns)
        late_ns += [seen.asked_ns - row["sent_ns"], row["first_ns"] - tokens_ns[0], row["last_ns"] - tokens_ns[-1]]
    assert min(late_ns) > -50e3  # the kernel stamps by another clock
    assert median(late_ns) < 0.5e6


def tell(server: str, swept: Swept, theirs: Figures, by: str) -> None:
    """One row of the table in docs/servers.md, shown by `pytest -rP`."""
    ours = (
        float(swept.records["osl"].fill_null(0).sum()),
        swept.mean_s("sent_ns", "first_ns"),
        swept.mean_tpot_s,
        swept.mean_s("sent_ns", "last_ns"),
    )
    levels = ", ".join(f"{point.load.level:g}" for point in swept.curve.points)
    formats = ("{:,.0f} / {:,.0f}", "{:.3f} / {:.3f}", "{:.4f} / {:.4f}", "{:.3f} / {:.3f}")
    cells = [text.format(*pair) for text, pair in zip(formats, zip(ours, theirs, strict=True), strict=True)]
    print(f"| {server}, {levels} | {len(swept.ok)} ok, {swept.cut} cut | {' | '.join(cells)} | {by} |")


def observed(swept: Swept) -> Figures:
    """What the observer saw of a sweep: tokens by the usage that passed, or by chunks where it was cut; what is no stream has
    one time and as many units as the records say."""
    streamed = swept.curve.endpoint.unit == "tokens"
    ttft_s, tpot_s, e2e_s = [], [], []
    for row, seen in swept.pairs():
        tokens_ns = seen.tokens_ns() if streamed else [seen.ended_ns]
        ttft_s.append((tokens_ns[0] - seen.asked_ns) / 1e9)
        tpot_s.append((tokens_ns[-1] - tokens_ns[0]) / 1e9 / max(1, row["osl"] - 1))
        e2e_s.append((tokens_ns[-1] - seen.asked_ns) / 1e9)
    tokens = sum(seen.tokens for seen in swept.seen.values()) if streamed else swept.ok["osl"].sum()
    return tokens, fmean(ttft_s), fmean(tpot_s), fmean(e2e_s)


def timings(seen: Exchange) -> dict[str, float]:
    """What llama.cpp tells of a request in its last event."""
    (told,) = (data["timings"] for _, data in seen.events() if "timings" in data)
    return dict(told)
