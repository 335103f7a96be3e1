"""Who takes part: curves as the sides of a comparison, with what the buyer said of them in place of what their files say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TypeVar

from sweep.curve.compare import noise
from sweep.curve.compare.nouns import Side
from sweep.curve.cost import Price, accelerators, stated
from sweep.curve.power import stated_w
from sweep.errors import UsageError
from sweep.model import Curve

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Given:
    """What the buyer says, by label (A, B, …) or name of a curve; it outweighs the files. Powers are watts of one accelerator."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    powers: Mapping[str, float] = field(default_factory=dict)


def labels(curves: Sequence[Curve]) -> dict[str, Curve]:
    if not 2 <= len(curves) <= len(ascii_uppercase):
        raise UsageError(f"a comparison needs two curves or more, got {len(curves)}", "sweep compare A.curve.json B.curve.json")
    return dict(zip(ascii_uppercase, curves, strict=False))


def sides(labelled: Mapping[str, Curve], given: Given) -> tuple[Side, ...]:
    """Raises UsageError where something is said of a curve that does not take part."""
    prices, counts = _by_label(labelled, given.prices), _by_label(labelled, given.counts)
    powers = _by_label(labelled, given.powers)
    return tuple(
        _side(label, curve, prices.get(label), counts.get(label), powers.get(label)) for label, curve in labelled.items()
    )


def basis(found: Sequence[Side]) -> dict[str, float]:
    """ln of the accelerators by label; empty unless all are counted."""
    known = {side.label: math.log(side.accelerators) for side in found if side.accelerators}
    return known if len(known) == len(found) else {}


def paired(curves: Sequence[Curve]) -> bool:
    """Whether all were measured in alternation with each other."""
    groups = {noise.pairing(curve) for curve in curves}
    return len(groups) == 1 and None not in groups


def _by_label(labelled: Mapping[str, Curve], said: Mapping[str, T]) -> dict[str, T]:
    by_name = {curve.name: label for label, curve in labelled.items()}
    for name in said:
        if name not in labelled and name not in by_name:
            raise UsageError(f"no curve is called {name}", f"curves are called {', '.join(labelled)} in the order of the files")
    return {by_name.get(name, name): value for name, value in said.items()}


def _side(label: str, curve: Curve, price: Price | None, count: int | None, power_w: float | None) -> Side:
    declared = stated(curve)
    paid = price or declared
    return Side(
        label=label,
        name=curve.name,
        model=curve.endpoint.model,
        url=curve.endpoint.url,
        measured_at=curve.created_at,
        digest=curve.digest,
        accelerators=count or accelerators(curve),
        runs=_runs(curve),
        open_loop=any(point.load.kind != "closed" for point in curve.points),
        price_per_accelerator_hour=paid.per_accelerator_hour,
        price_per_million_output_tokens=paid.per_million_output_tokens,
        currency=paid.currency or declared.currency,
        power_w_per_accelerator=power_w or stated_w(curve),
        power_given=power_w is not None,
    )


def _runs(curve: Curve) -> int:
    levels = Counter(point.load.level for point in curve.points if not point.disqualified)
    return min(levels.values(), default=0)
