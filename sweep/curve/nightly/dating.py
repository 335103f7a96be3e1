"""When did it begin? The Potts model in L1: levels that jump, at a price for each jump. It dates a change; it decides nothing.

Minimises Σ|x − level| + price · jumps by PELT (Killick, Fearnhead & Eckley 2012, "Optimal detection of changepoints with a linear
computational cost", JASA 107): exact, because a place that once cost more than the best can never be the last jump later.
"""

from __future__ import annotations

import numpy as np

from sweep.curve.nightly.series import Floats

PRICE = 1.5  # of a jump, in ln(n) standard deviations


def jumps(x: Floats) -> list[int]:
    """Where new levels begin (never 0), for the nights that have a value; places count all nights."""
    places = np.flatnonzero(np.isfinite(x))
    values = x[places]
    n = len(values)
    if n < 2:
        return []
    price = PRICE * np.log(n) * max(noise(values), 1e-12)
    best = [-price]
    last = [0]
    candidates = [0]
    for end in range(1, n + 1):
        costs = [best[start] + _cost(values[start:end]) for start in candidates]
        chosen = int(np.argmin(costs))
        best.append(costs[chosen] + price)
        last.append(candidates[chosen])
        candidates = [start for start, cost in zip(candidates, costs, strict=True) if cost <= best[end]] + [end]
    found = []
    end = n
    while last[end] > 0:
        end = last[end]
        found.append(int(places[end]))
    return found[::-1]


def began(x: Floats) -> int:
    """The first night of the latest level. Where the price is too high for any jump: the cheapest single one."""
    found = jumps(x)
    if found:
        return found[-1]
    places = np.flatnonzero(np.isfinite(x))
    values = x[places]
    costs = [_cost(values[:start]) + _cost(values[start:]) for start in range(1, len(values))]
    return int(places[1 + int(np.argmin(costs))]) if costs else 0


def noise(values: Floats) -> float:
    """Standard deviation between neighbours, which a few jumps hardly move."""
    return float(np.median(np.abs(np.diff(values))) / (0.6745 * np.sqrt(2)))


def _cost(values: Floats) -> float:
    return float(np.abs(values - np.median(values)).sum())
