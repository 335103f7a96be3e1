"""The buyer's whole demand put to the offers: its mean cost over a mix of targets, and what a cost ceiling buys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sweep.curve.compare import fan, noise
from sweep.curve.compare.delivery import estimate
from sweep.curve.compare.nouns import Demand, Side, Target, Within
from sweep.curve.compare.outlay import Offer, price_of
from sweep.curve.compare.plane import Plane
from sweep.curve.cost import needed_tok_per_s


def demand(asked: Sequence[Target], sides: Sequence[Side], offers: Mapping[str, Mapping[str, Offer]]) -> tuple[Demand, ...]:
    """Over the weighted targets, a place on the axis or an SLO each: the mean cost of what is served, and the shares that are not."""
    weighted = [(target.weight, target.name) for target in asked if target.weight]
    if not weighted:
        return ()
    return tuple(_demand(side.label, [(weight, offers[name][side.label]) for weight, name in weighted]) for side in sides)


def _demand(label: str, mix: Sequence[tuple[float, Offer]]) -> Demand:
    total = math.fsum(weight for weight, _ in mix)
    served = [(weight, offer) for weight, offer in mix if offer.delivery.value is not None]
    undecided = math.fsum(weight for weight, offer in mix if offer.served.standing == "undecided") / total
    unreachable = math.fsum(weight for weight, offer in mix if not _answered(offer)) / total
    made = Demand(label=label, cost_per_million=None, unreachable_share=unreachable, undecided_share=undecided)
    costs = [offer.cost for _, offer in served if offer.cost is not None]
    if not served or len(costs) < len(served):
        return made
    weights = np.array([weight for weight, _ in served])
    weights = weights / weights.sum()
    mean = float(weights @ np.exp([cost.value for cost in costs]))
    drawn = [cost.draws for cost in costs if cost.draws is not None]
    ln = np.log(weights @ np.exp(np.stack(drawn))) if len(drawn) == len(costs) else None
    sources = noise.distinct(source for _, offer in served for source in offer.delivery.sources)
    return Demand(
        label=label,
        cost_per_million=estimate(mean, ln, sources),
        unreachable_share=made.unreachable_share,
        undecided_share=undecided,
    )


def _answered(offer: Offer) -> bool:
    return offer.delivery.value is not None or offer.served.standing == "undecided"


def within(side: Side, plane: Plane, ceiling: float) -> Within:
    """The highest x at which the frontier still brings the throughput that makes a million tokens cheap enough."""
    needed = needed_tok_per_s(price_of(side), side.accelerators, ceiling)
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
