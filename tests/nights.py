"""Nights made up for tests and benchmarks: loads, metrics, and noise as MEASUREMENT's yardsticks have it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from sweep.model import Length, Limits, Load, Night, NightCell, Plan, Profile

LEVELS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
METRICS = ("output_tok_per_s", "ttft_p50", "tpot_p50")
SIGNS = {"output_tok_per_s": -1.0, "ttft_p50": 1.0, "tpot_p50": 1.0}
PROFILE = Profile(name="1k-1k", title="1K in, 1K out", isl=Length(mean=1024), osl=Length(mean=1024))
PLAN = Plan(profile=PROFILE, slos=(), kind="closed", limits=Limits(), start="cold", seed=0)
WORKLOAD = {"load_kind": "closed", "text": "prose"}
FIRST = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def usual(metric: str, level: float) -> float:
    """A plausible endpoint."""
    tpot = 0.006 + 0.00012 * level
    return {"output_tok_per_s": level / tpot, "ttft_p50": 0.05 + 0.002 * level, "tpot_p50": tpot}[metric]


def worsenings(
    nights: int,
    seed: int,
    *,
    metrics: int = 3,
    loads: int = 12,
    shared: float = 0.01,
    own: float = 0.02,
    one_draw: bool = False,
) -> np.ndarray:
    """Noise, nights × metrics × loads on the log scale: one draw a night and metric, and one more for each point.

    `one_draw`: what is shared is shared by the metrics too.
    """
    rng = np.random.default_rng(seed)
    return rng.normal(0, shared, (nights, 1 if one_draw else metrics, 1)) + rng.normal(0, own, (nights, metrics, loads))


def night(
    place: int,
    worse: np.ndarray | None = None,
    *,
    levels: Sequence[float] = LEVELS,
    day: float | None = None,
    failed: int = 0,
    disqualified: Sequence[float] = (),
    **facts: object,
) -> Night:
    """A night whose figures are worse than usual by these logs (metrics × loads)."""
    moved = np.zeros((len(METRICS), len(levels))) if worse is None else worse
    at = FIRST + timedelta(days=place if day is None else day)
    cells = tuple(
        NightCell(
            load=Load(kind="closed", level=level),
            cohort=200,
            failed=failed,
            disqualified=level in disqualified,
            values={}
            if level in disqualified
            else {
                metric: usual(metric, level) * float(np.exp(SIGNS[metric] * moved[row, column]))
                for row, metric in enumerate(METRICS)
            },
        )
        for column, level in enumerate(levels)
    )
    return Night(
        name=f"night-{place:04d}",
        file=f"night-{place:04d}.curve.json",
        at=at.isoformat(),
        at_s=at.timestamp(),
        digest=f"sha256:{place}",
        model="synthetic-8b",
        profile=PROFILE,
        plan=PLAN,
        workload=WORKLOAD,
        isl_mean=1024.0,
        osl_mean=1024.0,
        facts={"software.version": "0.31", **{key.replace("__", "."): value for key, value in facts.items()}},
        cells=cells,
        frontier=tuple(
            (1 / usual("tpot_p50", level) / float(np.exp(tpot)), usual("output_tok_per_s", level) / float(np.exp(output)))
            for level, output, tpot in zip(levels, moved[0], moved[2], strict=True)
        ),
        frontier_labels=("interactivity p50 [tok/s/user]", "output throughput [tok/s]"),
    )


def nights(worse: np.ndarray, **changes: object) -> list[Night]:
    return [night(place, each, **changes) for place, each in enumerate(worse)]
