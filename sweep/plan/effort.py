"""How well a cell is to know its figures, and how long it may try."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sweep.model import Effort, Gate, Limits, Slo

MIDDLE = (
    Gate(metric="output_tok_per_s", quantile=None, width=0.03),
    Gate(metric="tpot_s", quantile=0.5, width=0.03),
    Gate(metric="ttft_s", quantile=0.5, width=0.10),
)
TAILS = (Gate(metric="tpot_s", quantile=0.99, width=0.10), Gate(metric="ttft_s", quantile=0.99, width=0.10))
STRETCH = 4.0  # without a budget: how many shortest windows may go into what the shortest did not resolve
REFINEMENT = 1.0  # time for refinement as a share of the doubling's, when no budget is given
BEYOND = 50  # requests beyond a percentile that make it worth its name: 5,000 for p99
FEWEST = 8  # requests whose median has an interval


def demanding(limits: Limits, effort: Effort, slos: Sequence[Slo], budgeted: bool) -> Limits:
    """The limits with the gates of an effort. A demanded duration is kept, whatever it resolves.

    Percentiles of SLOs are decided, unless the effort is quick; other tails are gated by a rigorous one only.
    """
    if effort == "quick" or limits.duration_s is not None:
        return limits
    return msgspec.structs.replace(
        limits,
        gates=MIDDLE + (TAILS if effort == "rigorous" else ()),
        slos=tuple(slo for slo in slos if any(bound.quantile is not None for bound in slo.bounds)),
        stretch=None if effort == "rigorous" or budgeted else STRETCH,
    )


def requests_wanted(limits: Limits) -> int:
    """How many requests a cell needs, roughly, before everything asked of it can be told."""
    quantiles = [gate.quantile for gate in limits.gates if gate.quantile is not None]
    quantiles += [bound.quantile for slo in limits.slos for bound in slo.bounds if bound.quantile is not None]
    tails = [BEYOND / (1 - q) for q in quantiles if 0.5 < q < 1]
    return round(max([FEWEST if quantiles else 0, *tails]))
