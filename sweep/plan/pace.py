"""How fast an endpoint is: a lone request as preflight saw it, and what that lets expect of a load.

Batching assumption: beside C−1 others a request takes E(C) = E(1) + (C−1)·e, where e is what it costs the others: its input
tokens at 1/150 of a lone TPOT, and its output tokens at 1/1000 and 5·10⁻⁶ more for each token of context, whose keys and
values are read. Against the simulator's dense presets, 8B and 70B, that holds within 25 % where prompts outweigh and within a
factor of two at 1K/8K; mixtures of experts are slower in between, servers that do not batch always.
"""

from __future__ import annotations

import math

from sweep.model import Endpoint, Plan
from sweep.plan import lengths
from sweep.plan.arrival import OPEN

# What a token costs those who share the step, in units of a lone request's TPOT: of a prompt, of an answer, and for each
# token that one of an answer looks back upon.
PREFILL_SHARE = 1 / 150
DECODE_SHARE = 1 / 1000
LOOK_BACK_SHARE = 5e-6


def pace_of(endpoint: Endpoint | None) -> tuple[float, float] | None:
    """(TTFT, TPOT) of a lone request, where both are known and make sense."""
    if endpoint is None or endpoint.ttft_s is None or endpoint.tpot_s is None:
        return None
    known = math.isfinite(endpoint.ttft_s) and math.isfinite(endpoint.tpot_s) and endpoint.ttft_s > 0 and endpoint.tpot_s >= 0
    return (endpoint.ttft_s, endpoint.tpot_s) if known else None


def steady_state(plan: Plan, level: float, ttft_s: float, tpot_s: float) -> tuple[float, float]:
    """(E2E in s, requests/s) at one load."""
    isl, osl = lengths.means(plan.profile)
    alone_s = ttft_s + (isl * PREFILL_SHARE + max(0.0, osl - 1)) * tpot_s
    others_s = (isl * PREFILL_SHARE + osl * (DECODE_SHARE + (isl + osl / 2) * LOOK_BACK_SHARE)) * tpot_s
    in_flight = level * alone_s / max(0.1, 1 - level * others_s) if plan.kind in OPEN else level
    e2e_s = alone_s + max(0.0, in_flight - 1) * others_s
    return e2e_s, level if plan.kind in OPEN else level / e2e_s
