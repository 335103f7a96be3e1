"""From draws of a logarithmic ratio to an interval, p-values and a call.

Differs: two-sided, that the ratio is not 1. Equivalent: two one-sided tests (TOST, Schuirmann 1987) that it is within
1/(1+δ)..1+δ. Both are adjusted by Holm (1979), each kind over all targets and pairs of a comparison, so that the chance of even
one false call of a kind is 5 %. A ratio that is surely within δ is called equivalent even where it surely is not 1: a
difference that small should not decide a purchase.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare.nouns import Call

Floats = NDArray[np.float64]

ALPHA = 0.05
DELTA = 0.03


def interval(draws: Floats) -> tuple[float, float] | None:
    """The middle 95 % of draws of a logarithm; ends may be ±∞. None when more than 2.5 % of the draws say nothing (NaN)."""
    known = np.sort(draws[~np.isnan(draws)])
    if len(known) < (1 - ALPHA / 2) * len(draws) or len(known) == 0:
        return None
    last = len(known) - 1
    return float(known[int(np.floor(ALPHA / 2 * last))]), float(known[int(np.ceil((1 - ALPHA / 2) * last))])


def p_differs(draws: Floats) -> float:
    """Of the hypothesis that the logarithm is 0. Never below 2/(draws + 1)."""
    at_most, at_least = _tail(~(draws > 0)), _tail(~(draws < 0))  # a draw that says nothing (NaN) speaks for the hypothesis
    return min(1.0, 2 * min(at_most, at_least))


def p_equivalent(draws: Floats, delta: float = DELTA) -> float:
    """Of the hypothesis that the ratio is outside 1/(1+δ)..1+δ."""
    edge = np.log1p(delta)
    return max(_tail(~(draws < edge)), _tail(~(draws > -edge)))


def _tail(inside: NDArray[np.bool_]) -> float:
    return (int(np.count_nonzero(inside)) + 1) / (len(inside) + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given: the i-th smallest times (m − i + 1), never falling, at most 1."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def call(ln_ratio: float, differs: float, equivalent: float, *, more_is_better: bool) -> Call:
    """`differs` and `equivalent` are adjusted p-values."""
    if equivalent < ALPHA:
        return "equivalent"
    if differs >= ALPHA or ln_ratio == 0:
        return "inconclusive"
    return "better" if (ln_ratio > 0) == more_is_better else "worse"
