"""What a delivery takes: money and energy for each unit of work, and how the outlays of two sides compare.

Prices and powers are inputs, taken as exact; what is uncertain is how much work they bring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare import noise
from sweep.curve.compare.delivery import Delivery, estimate
from sweep.curve.compare.nouns import Energy, HowKnown, Served, Side
from sweep.curve.compare.versus import Pair
from sweep.curve.cost import Price, ln_cost, needed_tok_per_s
from sweep.curve.power import measured_w
from sweep.errors import UsageError
from sweep.model import Curve, Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outlay:
    """In logarithms: at the delivery's value (+∞ where nothing is delivered), at its draws, and by the measurements alone."""

    value: float
    draws: Floats | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What a side delivers at a target, and what a million tokens cost and a token burns there; None where that is not known."""

    served: Served
    delivery: Delivery
    cost: Outlay | None = None
    energy: Outlay | None = None


def currency(sides: Sequence[Side]) -> str | None:
    """The one in which all prices are, `""` where none names one; None where they differ and no cost may be compared."""
    named = {side.currency for side in sides if side.currency}
    return None if len(named) > 1 else named.pop() if named else ""


def priced(side: Side) -> bool:
    """Whether it is known what work costs: by token, or by an accelerator-hour of so many accelerators."""
    return needed_tok_per_s(price_of(side), side.accelerators, 1.0) is not None


def require_price(sides: Sequence[Side]) -> None:
    """Raises UsageError where no ceiling of cost can be held against these sides."""
    if currency(sides) is None:
        own = ", ".join(f"{side.label} {side.currency}" for side in sides if side.currency)
        raise UsageError(f"--max-cost: prices are in different currencies ({own})", "give all in one: --price A=2.50EUR")
    if not any(map(priced, sides)):
        by_hour = [side.label for side in sides if side.price_per_accelerator_hour]
        if by_hour:
            raise UsageError("--max-cost: nobody says how many accelerators are paid for", f"--accelerators {by_hour[0]}=8")
        raise UsageError("--max-cost: no curve has a price", "--price A=2.50 an accelerator-hour, --price A=0.60/M by token")


def offer(side: Side, curve: Curve, delivery: Delivery) -> Offer:
    """The delivery with its cost and its energy, where price and power are known."""
    cost, power = cost_of(side, delivery), _power(side, curve, delivery)
    energy = (
        None if power is None else _per_second(delivery, math.log(power.w), math.log(power.least_w), math.log(power.most_w))
    )
    served = delivery.served
    if cost is not None and delivery.value is not None:
        served = msgspec.structs.replace(served, cost_per_million=_estimated(cost, delivery))
    if energy is not None and power is not None and delivery.value is not None:
        served = msgspec.structs.replace(
            served,
            energy=Energy(
                known=power.known,
                power_w=power.w,
                per_token_j=_estimated(energy, delivery),
                tok_per_s_per_mw=1e6 * math.exp(-energy.value),
            ),
        )
    return Offer(served, delivery, cost, energy)


def cost_of(side: Side, delivery: Delivery) -> Outlay | None:
    """A good token costs more than a token where one pays by token: all are paid for."""
    price, attainment = price_of(side), delivery.served.attainment
    share = np.array(math.log(attainment) if attainment else 0.0)
    at = ln_cost(price, side.accelerators, np.array(_ln(delivery.value)), share)
    if at is None:
        return None
    if price.per_million_output_tokens is None:
        rate = ln_cost(price, side.accelerators, np.array(0.0), share)
        return None if rate is None else _per_second(delivery, float(rate), float(rate), float(rate))
    drawn = None if delivery.ln is None else ln_cost(price, side.accelerators, delivery.ln, share)
    fixed = None if delivery.value is None else float(at)
    return Outlay(float(at), drawn, fixed, fixed)


def price_of(side: Side) -> Price:
    return Price(side.price_per_accelerator_hour, side.price_per_million_output_tokens, side.currency)


def throughputs(a: Offer, b: Offer, per: float) -> Pair | None:
    """`per`: ln of a's accelerators over b's. None where neither side delivers anything."""
    first, second = a.delivery, b.delivery
    if first.value is None and second.value is None:
        return None
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


def outlays(a: Offer, b: Offer, of: Literal["cost", "energy"]) -> Pair | None:
    """None where one side's is unknown, where neither delivers anything, or where one's power is measured and the other's declared."""
    first, second = (a.cost, b.cost) if of == "cost" else (a.energy, b.energy)
    if first is None or second is None or (np.isinf(first.value) and np.isinf(second.value)):
        return None
    if of == "energy" and a.served.energy and b.served.energy and a.served.energy.known != b.served.energy.known:
        return None
    value, draws = first.value - second.value, None
    if first.draws is not None and second.draws is not None:
        sources = (*a.delivery.sources, *b.delivery.sources)
        draws = noise.welch(value, _difference(first.draws, second.draws), sources)
    return Pair(value, draws, _minus(first.least, second.most), _minus(first.most, second.least))


@dataclass(frozen=True, slots=True)
class _Power:
    """Of the whole system at a target, and what it lies between by the measurements alone."""

    known: HowKnown
    w: float
    least_w: float
    most_w: float


def _power(side: Side, curve: Curve, delivery: Delivery) -> _Power | None:
    """As given by the buyer, else as measured at the loads the answer rests on, else as declared in the file."""
    declared = side.power_w_per_accelerator * side.accelerators if side.power_w_per_accelerator and side.accelerators else None
    measured = None if side.power_given else _measured(curve, delivery.served)
    if measured is not None:
        return measured
    return None if declared is None else _Power("declared", declared, declared, declared)


def _measured(curve: Curve, served: Served) -> _Power | None:
    """Between two loads the power lies, in logarithms, where the throughput does."""
    at = [
        measured_w([point for point in curve.points if not point.disqualified and point.load.level == level])
        for level in dict.fromkeys(served.loads[:1] + served.loads[-1:])
    ]
    known = [each for each in at if each is not None]
    if not known or len(known) < len(at):
        return None
    way = 0.0
    if len(known) > 1 and served.tok_per_s.value and served.attained and served.ceiling and served.ceiling > served.attained:
        way = math.log(served.tok_per_s.value / served.attained) / math.log(served.ceiling / served.attained)
    w = known[0] * (known[-1] / known[0]) ** min(max(way, 0.0), 1.0)
    return _Power("measured", w, min(known), max(known))


def _per_second(delivery: Delivery, ln_rate: float, least: float, most: float) -> Outlay:
    """What is spent at `ln_rate` each second, whatever is delivered meanwhile."""
    served = delivery.served
    delivered = delivery.value is not None
    return Outlay(
        ln_rate - _ln(delivery.value),
        None if delivery.ln is None else ln_rate - delivery.ln,
        least - math.log(served.ceiling) if delivered and served.ceiling else None,
        most - math.log(served.attained) if delivered and served.attained else None,
    )


def _estimated(outlay: Outlay, delivery: Delivery) -> Estimate:
    return estimate(math.exp(outlay.value), outlay.draws, delivery.sources)


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
