"""Points, plans and curves for tests: everything has a value, and each test changes what it is about."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from sweep.curve.assemble import assemble
from sweep.measure.point import measure
from sweep.model import (
    Calibration,
    Cell,
    Curve,
    Endpoint,
    Estimate,
    Finding,
    Length,
    LengthStats,
    Limits,
    Load,
    Plan,
    Point,
    Profile,
    Slo,
    Tool,
    Window,
)
from sweep.records import Records, from_rows

PROFILE = Profile(name="1k-8k", title="1K in, 8K out", isl=Length(mean=1024), osl=Length(mean=8192))
ENDPOINT = Endpoint(
    url="http://127.0.0.1:8000/v1",
    model="synthetic-8b",
    dialect="chat",
    calibration=Calibration(tokens_per_word=1.3, template_tokens=20.0, source="usage"),
    server="vllm",
    version="0.11",
    rtt_s=0.0002,
)


def estimate(value: float | None, spread: float | None = None, *, few: bool = False, n: int = 100) -> Estimate:
    """`spread` 0.1: an interval of ±10 %."""
    if value is None or spread is None:
        return Estimate(value=value, n=n, few=few)
    return Estimate(value=value, low=value * (1 - spread), high=value * (1 + spread), n=n, few=few)


def point(
    level: float = 1,
    *,
    repeat: int = 0,
    cell: int = 0,
    output: float | None = 100.0,
    latency: float | None = 0.02,
    spread: float | None = None,
    few: bool = False,
    codes: tuple[str, ...] = (),
    disqualified: bool = False,
    **changes: Any,
) -> Point:
    """A point whose latencies are all made from `latency`, the seconds a token takes, and whose rates from `output`."""
    scale = {"ttft_s": 10, "tpot_s": 1, "e2e_s": 100, "normalised_e2e_s": 1.1}
    metrics = {
        name: {
            "p50": estimate(None if latency is None else latency * factor, spread),
            "p90": estimate(None if latency is None else latency * factor * 1.5, spread, few=few),
        }
        for name, factor in scale.items()
    }
    built = Point(
        id=f"c{level:g}.{repeat}",
        cell=cell,
        load=Load(kind="closed", level=level),
        repeat=repeat,
        start="cold",
        started_at="2026-01-01T00:00:00Z",
        window=Window(begin_ns=10**9, end_ns=31 * 10**9, begin_reason="second completions", end_reason="enough"),
        cohort=100,
        outcomes={"ok": 100},
        outcomes_all={"ok": 120},
        statuses={"200": 120},
        isl_asked=LengthStats(n=100, mean=1024.0, min=1024, p50=1024, max=1024),
        isl=LengthStats(n=100, mean=1030.0, min=1020, p50=1030, max=1040),
        osl_asked=LengthStats(n=100, mean=8192.0, min=8192, p50=8192, max=8192),
        osl=LengthStats(n=100, mean=8192.0, min=8192, p50=8192, max=8192),
        cached_share=None,
        token_sources={"usage": 100},
        metrics=metrics,
        rates={
            "output_tok_per_s": estimate(output, spread),
            "total_tok_per_s": estimate(None if output is None else 1.2 * output, spread),
            "req_per_s": estimate(None if output is None else output / 8192, spread),
        },
        concurrency=estimate(level),
        concurrency_peak=int(level),
        histograms={},
        joint=None,
        slos=(),
        health=None,
        findings=tuple(Finding(code=code) for code in codes),
        disqualified=disqualified,
    )
    return msgspec.structs.replace(built, **changes)


def plan(**changes: Any) -> Plan:
    base = Plan(profile=PROFILE, slos=(), kind="closed", limits=Limits(), start="cold", seed=1)
    return msgspec.structs.replace(base, **changes)


def curve(*points: Point, **changes: Any) -> Curve:
    """A curve of these points, or of three rising ones."""
    kept = points or tuple(
        point(level, cell=cell, output=1000 * level**0.7, latency=0.01 * level**0.4, spread=0.03)
        for cell, level in enumerate((1, 2, 4))
    )
    built = assemble(
        kept,
        name="synthetic-8b-1k-8k-20260101T000000Z",
        created_at="2026-01-01T00:00:00Z",
        run_id="r1",
        tool=Tool(name="sweep", version="0.1.0", python="3.11"),
        plan=plan(slos=changes.get("slos", ())),
        endpoint=ENDPOINT,
        client={"fingerprint": "0123456789abcdef", "cores": 2},
    )
    return msgspec.structs.replace(built, **changes)


def records(level: float = 4, *, cell: int = 0, repeat: int = 0, n: int = 400, seed: int = 0, fail_every: int = 0) -> Records:
    """n measured requests over 30 s (10 warm-ups before), TTFT and TPOT log-normal around 0.2 s and 20 ms."""
    draw = np.random.default_rng(seed)
    total = n + 10
    sent = np.sort(np.concatenate([draw.uniform(0.1, 1, 10), draw.uniform(1, 31, n)])) * 1e9
    osl = draw.integers(2, 40, total)
    first = sent + draw.lognormal(np.log(0.2), 0.5, total) * 1e9
    last = first + draw.lognormal(np.log(0.02), 0.3, total) * 1e9 * (osl - 1)
    rows = []
    for row in range(total):
        base = {
            "cell": cell,
            "repeat": repeat,
            "request": total * cell + row,
            "worker": 0,
            "retries": 0,
            "isl_asked": 64,
            "osl_asked": 40,
        }
        base |= {"phase": "warmup" if row < 10 else "measured", "planned_ns": int(sent[row]), "sent_ns": int(sent[row])}
        if fail_every and row % fail_every == 0:
            rows.append(base | {"outcome": "http_error", "status": 500, "end_ns": int(first[row])})
            continue
        chunk_ns = np.linspace(first[row], last[row], osl[row]).astype(int)
        gap = int(np.diff(chunk_ns).max())
        times = {
            "first_ns": int(chunk_ns[0]),
            "first_answer_ns": int(chunk_ns[0]),
            "last_ns": int(chunk_ns[-1]),
            "max_gap_ns": gap,
        }
        tokens = {"isl": 64, "osl": int(osl[row]), "chunks": int(osl[row]), "first_tokens": 1, "token_source": "usage"}
        chunks = {"chunk_ns": chunk_ns.tolist(), "chunk_tokens": [1] * len(chunk_ns)}
        rows.append(base | times | tokens | chunks | {"outcome": "ok", "status": 200, "end_ns": int(chunk_ns[-1]) + 1000})
    return from_rows(rows)


def measured(own: Records, level: float = 4, *, slos: tuple[Slo, ...] = (), start: str = "cold", honest: bool = False) -> Point:
    """The point of one cell's records, as a run makes it, but qualified unless `honest`: these records come from no closed loop."""
    window = Window(begin_ns=10**9, end_ns=31 * 10**9, begin_reason="second completions", end_reason="enough")
    cell = Cell(
        index=int(own["cell"][0]),
        profile=PROFILE,
        load=Load(kind="closed", level=level),
        limits=Limits(),
        start=start,
        seed=1,
        repeat=int(own["repeat"][0]),
    )
    made = measure(cell, own, window, slos, None, ENDPOINT, "2026-01-01T00:00:00Z", "enough")
    return made if honest else msgspec.structs.replace(made, findings=(), disqualified=False)
