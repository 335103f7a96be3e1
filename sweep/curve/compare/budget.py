"""Prices put to deliveries: what a million tokens cost at a target, over a mix of targets, and what a ceiling buys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare import fan, noise
from sweep.curve.compare.delivery import Delivery, estimate
from sweep.curve.compare.nouns import Demand, Served, Side, Target, Within
from sweep.curve.compare.plane import Plane
from sweep.curve.compare.versus import Pair
from sweep.curve.cost import Price, ln_cost, needed_tok_per_s

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """A delivery with its cost: `ln_cost` at its value and, in `ln_costs`, at its draws; None without a price."""

    served: Served
    delivery: Delivery
    ln_cost: float | None
    ln_costs: Floats | None


def currency(sides: Sequence[Side]) -> str | None:
    """The one in which all prices are, `""` where none names one; None where they differ and no cost may be compared."""
    named = {side.currency for side in sides if side.currency}
    return None if len(named) > 1 else named.pop() if named else ""


def priced(side: Side, delivery: Delivery) -> Priced:
    """A good token costs more than a token where one pays by token: all are paid for."""
    share = np.array(math.log(delivery.served.attainment) if delivery.served.attainment else 0.0)
    value = -math.inf if delivery.value is None else math.log(delivery.value)
    at = ln_cost(_price(side), side.accelerators, np.array(value), share)
    drawn = None if delivery.ln is None else ln_cost(_price(side), side.accelerators, delivery.ln, share)
    if at is None or not np.isfinite(at):
        return Priced(delivery.served, delivery, None if at is None else float(at), drawn)
    cost = estimate(math.exp(at), drawn, delivery.sources)
    return Priced(msgspec.structs.replace(delivery.served, cost_per_million=cost), delivery, float(at), drawn)


def throughputs(a: Priced, b: Priced, per: float) -> Pair | None:
    """`per`: ln of a's accelerators over b's. None where neither side delivers anything."""
    if a.delivery.value is None and b.delivery.value is None:
        return None
    first, second = a.delivery, b.delivery
    value = _ln(first.value) - _ln(second.value) - per
    draws = None
    if first.ln is not None and second.ln is not None:
        draws = noise.welch(value, _difference(first.ln, second.ln) - per, (*first.sources, *second.sources))
    return Pair(
        value,
        draws,
        _bound(first.served.attained, second.served.ceiling, per),
        _bound(first.served.ceiling, second.served.attained, per),
    )


def costs(a: Priced, b: Priced) -> Pair | None:
    """None without both prices, or where neither side delivers anything."""
    if a.ln_cost is None or b.ln_cost is None or (np.isinf(a.ln_cost) and np.isinf(b.ln_cost)):
        return None
    value, draws = a.ln_cost - b.ln_cost, None
    if a.ln_costs is not None and b.ln_costs is not None:
        sources = (*a.delivery.sources, *b.delivery.sources)
        draws = noise.welch(value, _difference(a.ln_costs, b.ln_costs), sources)
    least, most = _bracket(a), _bracket(b)
    return Pair(value, draws, _minus(least[0], most[1]), _minus(least[1], most[0]))


def demand(asked: Sequence[Target], sides: Sequence[Side], by_target: Mapping[str, Mapping[str, Priced]]) -> tuple[Demand, ...]:
    """Over the weighted targets: the mean cost of what is in reach, weighted, and the share that is not."""
    weighted = [target for target in asked if target.weight]
    if not weighted:
        return ()
    return tuple(_demand(side.label, weighted, by_target) for side in sides)


def _demand(label: str, weighted: Sequence[Target], by_target: Mapping[str, Mapping[str, Priced]]) -> Demand:
    total = math.fsum(target.weight or 0.0 for target in weighted)
    reached = [target for target in weighted if by_target[target.name][label].delivery.value is not None]
    share = math.fsum(target.weight or 0.0 for target in reached) / total
    here = [by_target[target.name][label] for target in reached]
    if not here or any(each.ln_cost is None for each in here):
        return Demand(label=label, cost_per_million=None, unreachable_share=1 - share)
    weights = np.array([target.weight or 0.0 for target in reached])
    weights = weights / weights.sum()
    mean = float(weights @ np.exp([each.ln_cost for each in here if each.ln_cost is not None]))
    drawn = [each.ln_costs for each in here if each.ln_costs is not None]
    ln = np.log(weights @ np.exp(np.stack(drawn))) if len(drawn) == len(here) else None
    return Demand(label=label, cost_per_million=estimate(mean, ln, here[0].delivery.sources), unreachable_share=1 - share)


def within(side: Side, plane: Plane, ceiling: float) -> Within:
    """The highest x at which the frontier still brings the throughput that makes a million tokens cheap enough."""
    needed = needed_tok_per_s(_price(side), side.accelerators, ceiling)
    enough = [] if needed is None else [vertex for vertex in plane.vertices if vertex.y >= needed]
    if not enough or needed is None:
        return Within(label=side.label, cost_ceiling=ceiling, x=None, measured_x=None)
    last = enough[-1]
    after = next((vertex for vertex in plane.vertices if vertex.x > last.x), None)
    if after is None:
        return Within(label=side.label, cost_ceiling=ceiling, x=last.x, measured_x=last.x)
    low, high = math.log(last.x), math.log(after.x)
    for _ in range(60):
        middle = (low + high) / 2
        if fan.value(plane.still, np.array(middle))[0] >= math.log(needed):
            low = middle
        else:
            high = middle
    return Within(label=side.label, cost_ceiling=ceiling, x=math.exp(low), measured_x=last.x)


def _bracket(each: Priced) -> tuple[float | None, float | None]:
    """ln of the least and the most that a million tokens cost, by what was attained and what cannot be exceeded."""
    served = each.served
    if each.ln_cost is None or each.delivery.value is None or served.attained is None:
        return None, None
    by_token = each.ln_costs is not None and each.delivery.ln is not None and np.ptp(each.ln_costs) == 0
    if by_token:
        return each.ln_cost, each.ln_cost
    at_one = each.ln_cost + math.log(each.delivery.value)
    return (None if served.ceiling is None else at_one - math.log(served.ceiling)), at_one - math.log(served.attained)


def _price(side: Side) -> Price:
    return Price(side.price_per_accelerator_hour, side.price_per_million_output_tokens, side.currency)


def _difference(a: Floats, b: Floats) -> Floats:
    """∞ − ∞ says nothing: NaN."""
    with np.errstate(invalid="ignore"):
        return a - b


def _ln(value: float | None) -> float:
    return math.log(value) if value else -math.inf


def _bound(over: float | None, under: float | None, per: float) -> float | None:
    return math.log(over / under) - per if over and under else None


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b
