"""Which figures of a point are watched, which way is worse, and how small a change is never an alarm."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sweep.errors import UsageError

STATISTICS = ("mean", "p50", "p90", "p99")
PACES = {"interactivity": "interactivity_tok_per_s", "smooth": "smooth_tok_per_s"}  # metrics of which more is better
RATES = ("req_per_s", "output_tok_per_s", "input_tok_per_s", "total_tok_per_s")
LATENCIES = ("ttft", "tpot", "itl", "e2e", "normalised_e2e", "chunk_gap", "max_stall")
TITLES = {
    "req_per_s": "requests/s",
    "output_tok_per_s": "output throughput",
    "input_tok_per_s": "input throughput",
    "total_tok_per_s": "total throughput",
    "normalised_e2e": "normalised E2E",
    "chunk_gap": "chunk gap",
    "max_stall": "max stall",
    "smooth": "smooth rate",
    "interactivity": "interactivity",
}
DEFAULT = ("output_tok_per_s", "ttft_p50", "tpot_p50")
MIN_EFFECT = 0.02
TAIL_EFFECT = 0.06  # of a p99: so much it moves by itself


@dataclass(frozen=True, slots=True)
class Metric:
    """`sign` turns ln(value) so that + is worse; `floor` is the smallest relative change that may raise an alarm."""

    name: str
    title: str
    sign: int
    floor: float


def parse(name: str) -> Metric:
    """`output_tok_per_s`, `ttft_p50`, `e2e_p99`, `interactivity_p50` … Raises UsageError."""
    if name in RATES:
        return Metric(name, TITLES[name], -1, MIN_EFFECT)
    found = re.fullmatch(r"(\w+)_(mean|p50|p90|p99)", name)
    if found is None or found[1] not in {*LATENCIES, *PACES}:
        raise UsageError(
            f"unknown metric {name!r}", f"known: {', '.join(RATES)}, and {'|'.join(LATENCIES + tuple(PACES))}_p50 …"
        )
    title = f"{TITLES.get(found[1], found[1].upper())} {found[2]}"
    return Metric(name, title, -1 if found[1] in PACES else 1, TAIL_EFFECT if found[2] == "p99" else MIN_EFFECT)


def stored_as(metric: str) -> str:
    """The key of `Point.metrics` for a metric's short name."""
    return PACES.get(metric, f"{metric}_s")
