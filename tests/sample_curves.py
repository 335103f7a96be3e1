"""Sample curves: a plausible endpoint whose throughput saturates while latencies grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sweep.curve.frontier import frontiers
from sweep.model import (
    SCHEMA,
    Bound,
    BoundResult,
    Calibration,
    Curve,
    Endpoint,
    Estimate,
    Fact,
    Finding,
    Length,
    LengthStats,
    Limits,
    Load,
    Plan,
    Point,
    Profile,
    Slo,
    SloResult,
    Tool,
    Window,
)

LEVELS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SLOS = (
    Slo(
        name="mlperf-llama2-70b-interactive",
        bounds=(
            Bound(metric="ttft", limit_s=0.45, quantile=0.99),
            Bound(metric="tpot", limit_s=0.04, quantile=0.99),
        ),
    ),
    Slo(name="ttft<=0.5s,e2e<=60s", bounds=(Bound(metric="ttft", limit_s=0.5), Bound(metric="e2e", limit_s=60.0))),
)


def estimate(value: float | None, n: int = 400, width: float = 0.03, few: bool = False) -> Estimate:
    if value is None:
        return Estimate(value=None)
    return Estimate(value=value, low=value * (1 - width), high=value * (1 + width), n=n, few=few)


def quantiles(p50: float, p99: float, n: int, few: bool) -> dict[str, Estimate]:
    return {
        "mean": estimate(p50 * 1.05, n),
        "p50": estimate(p50, n),
        "p90": estimate(p50 + (p99 - p50) * 0.55, n, 0.06),
        "p99": estimate(p99, n, 0.12, few),
    }


def point(
    level: float, index: int, *, findings: Sequence[Finding] = (), disqualified: bool = False, few: bool = False
) -> Point:
    n = 40 if few else 400
    tpot = 0.0229 + 0.00028 * level
    out = level / tpot * min(1.0, 78 / (level + 8) + 0.2)
    ttft = 0.167 + 0.0022 * level
    ttft99 = ttft * 1.5 + 0.0006 * level * level**0.5
    e2e = ttft + tpot * 1023
    lengths = LengthStats(n=n, mean=1024.0, min=1024, p50=1024, max=1024)
    bad = 7 if disqualified else 0
    share1 = max(0.0, min(1.0, 1.45 - level / 40))
    return Point(
        id=f"c{level:g}.0",
        cell=index,
        load=Load(kind="closed", level=level),
        repeat=0,
        start="equilibrium",
        started_at="2026-11-30T10:00:00Z",
        window=Window(begin_ns=0, end_ns=60_000_000_000, begin_reason="equilibrium start", end_reason="enough"),
        cohort=n,
        outcomes={"ok": n - bad, "timeout_idle": bad} if bad else {"ok": n},
        outcomes_all={"ok": n + 20},
        statuses={"200": n},
        isl_asked=lengths,
        isl=lengths,
        osl_asked=lengths,
        osl=lengths,
        cached_share=0.0,
        token_sources={"usage": n},
        metrics={
            "ttft_s": quantiles(ttft, ttft99, n, few),
            "tpot_s": quantiles(tpot, tpot * 1.12, n, few),
            "e2e_s": quantiles(e2e, e2e * 1.1, n, few),
            "itl_s": quantiles(tpot, tpot * 1.9, n * 1000, False),
        },
        rates={
            "req_per_s": estimate(out / 1024, n),
            "output_tok_per_s": estimate(out, n),
            "input_tok_per_s": estimate(out, n),
            "total_tok_per_s": estimate(2 * out, n),
        },
        concurrency=estimate(level, n, 0.0),
        concurrency_peak=int(level),
        histograms={},
        joint=None,
        slos=tuple(slo_result(slo, share1 if i == 0 else min(1.0, share1 + 0.2), n, out) for i, slo in enumerate(SLOS)),
        health=None,
        findings=tuple(findings),
        disqualified=disqualified,
    )


def slo_result(slo: Slo, share: float, n: int, out: float) -> SloResult:
    need = slo.bounds[0].quantile or 1.0
    verdict = "met" if share >= need else "missed" if share < need - 0.05 else "undecided"
    return SloResult(
        slo=slo.name,
        good=round(share * n),
        cohort=n,
        attainment=estimate(share, n, 0.01),
        goodput_req_per_s=estimate(share * out / 1024, n),
        goodput_tok_per_s=estimate(share * out, n),
        verdict=verdict,
        bounds=tuple(BoundResult(bound=bound, share=estimate(share, n), verdict=verdict) for bound in slo.bounds),
    )


def curve(points: Sequence[Point] | None = None, **changes: Any) -> Curve:
    """A curve of nine loads: the last disqualified, the two before with too few requests for their p99."""
    if points is None:
        failures = Finding(code="failures", data={"share": 0.0175, "what": "timeout_idle 7"})
        few = Finding(code="few", data={"n": 40, "what": "p99"})
        points = [
            point(
                level,
                index,
                few=level in (64, 128),
                disqualified=level == 256,
                findings=[failures] if level == 256 else [few] if level in (64, 128) else [],
            )
            for index, level in enumerate(LEVELS)
        ]
    profile = Profile(name="1k-1k", title="1024 in, 1024 out", isl=Length(mean=1024), osl=Length(mean=1024))
    limits = Limits()
    plan = Plan(profile=profile, slos=SLOS, kind="closed", limits=limits, start="equilibrium", seed=0)
    made = Curve(
        schema=SCHEMA,
        name="synthetic-70b-fp8-1k-1k-20261130T100000Z",
        created_at="2026-11-30T10:00:00Z",
        run_id="abcdef0123456789",
        tool=Tool(name="sweep", version="0.1.0", python="3.11.8"),
        profile=profile,
        slos=SLOS,
        plan=plan,
        endpoint=Endpoint(
            url="http://127.0.0.1:8000/v1",
            model="synthetic-70b-fp8",
            dialect="chat",
            calibration=Calibration(tokens_per_word=1.3, template_tokens=8.0, source="usage"),
            loopback=True,
        ),
        scenario={
            "load": Fact(value="closed loop", known="declared"),
            "start": Fact(value="equilibrium", known="declared"),
            "isl": Fact(value="1024 tokens, mean of 3,600 requests", known="measured"),
        },
        constraint={"mlperf-llama2-70b-interactive": Fact(value="p99 TTFT <= 450 ms, p99 TPOT <= 40 ms", known="declared")},
        software={
            "server": Fact(value="sweep-sim/0.1", known="read"),
            "flags": Fact(value=None, known="missing"),
            "precision": Fact(value="fp8", known="declared"),
        },
        hardware={"accelerator": Fact(value=None, known="missing"), "count": Fact(value=None, known="missing")},
        client={"rtt_s": Fact(value=0.0002, known="measured")},
        price={},
        points=tuple(points),
        frontiers=frontiers(points),
        findings=(Finding(code="keep-alive-off"),),
        complete=True,
    )
    return msgspec.structs.replace(made, **changes)
