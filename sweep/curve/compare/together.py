"""Curve files in, one comparison out. Pure: the same files, questions and seed give the same document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from string import ascii_uppercase
from typing import TYPE_CHECKING

import msgspec

from sweep.curve.compare import budget, fair, gain, judge, noise, plane, targets
from sweep.curve.compare.delivery import Delivery, at_x
from sweep.curve.compare.goals import under
from sweep.curve.compare.nouns import SCHEMA, Answer, Comparison, Difference, Gain, Ratio, Side, Target, Verdict
from sweep.curve.compare.plane import Plane
from sweep.curve.compare.versus import Pair, ratio_of
from sweep.curve.cost import Price, accelerators, stated
from sweep.errors import TrustError, UsageError
from sweep.model import Curve, Slo

if TYPE_CHECKING:
    from sweep.curve.notebook import CurveFile

DRAWS = 4000


def compare(
    curves: Sequence[Curve | CurveFile],
    *,
    slos: Sequence[Slo] = (),
    at: Sequence[float] = (),
    weights: Mapping[float, float] | None = None,
    axis: str | None = None,
    prices: Mapping[str, Price] | None = None,
    counts: Mapping[str, int] | None = None,
    cost_ceiling: float | None = None,
    delta: float = judge.DELTA,
    seed: int = 0,
    draws: int = DRAWS,
    force: bool = False,
) -> Comparison:
    """What each curve delivers at the buyer's targets, and how sure the differences are.

    `at` and the keys of `weights` are in the axis' unit. `prices` and `counts` (accelerators) by label (A, B, …) or name of a
    curve outweigh what the files state. Raises TrustError for an unfair comparison, unless `force`; UsageError.
    """
    labelled = labels([each if isinstance(each, Curve) else each.curve for each in curves])
    taking_part = list(labelled.values())
    sides = _sides(labelled, prices or {}, counts or {})
    found = fair.differences(labelled)
    if not force:
        refuse(found)
    chosen = plane.axis_of(taking_part, axis)
    planes = {label: plane.plane(label, curve, chosen, seed=seed, draws=draws) for label, curve in labelled.items()}
    asked = targets.targets(taking_part, list(planes.values()), slos, at, weights or {})
    basis = _basis(sides)
    delivered = {target.name: {label: _deliver(each, target) for label, each in planes.items()} for target in asked}
    priced = {
        target.name: {side.label: budget.priced(side, delivered[target.name][side.label]) for side in sides} for target in asked
    }
    return Comparison(
        schema=SCHEMA,
        axis=chosen.name,
        x=f"{chosen.metric}.{chosen.statistic}",
        x_label=chosen.x_label,
        y_label=chosen.y_label,
        rate_unit=labelled["A"].endpoint.rate_unit,
        basis="accelerator" if basis else "system",
        delta=delta,
        draws=draws,
        seed=seed,
        paired=_paired(taking_part),
        currency=budget.currency(sides),
        sides=sides,
        differences=found,
        answers=tuple(
            Answer(target=target, served=tuple(priced[target.name][side.label].served for side in sides)) for target in asked
        ),
        verdicts=_verdicts(asked, sides, priced, basis, delta),
        gains=tuple(_gain(planes[a], planes[b], basis, delta) for a, b in combinations(labelled, 2)),
        demand=budget.demand(asked, sides, priced),
        within=tuple(budget.within(side, planes[side.label], cost_ceiling) for side in sides) if cost_ceiling else (),
        unknown_noise=tuple(label for label, each in planes.items() if each.vertices and each.moved is None),
    )


def labels(curves: Sequence[Curve]) -> dict[str, Curve]:
    if not 2 <= len(curves) <= len(ascii_uppercase):
        raise UsageError(f"a comparison needs two curves or more, got {len(curves)}", "sweep compare A.curve.json B.curve.json")
    return dict(zip(ascii_uppercase, curves, strict=False))


def refuse(found: Sequence[Difference]) -> None:
    """Raises TrustError when something forbids the comparison."""
    unfair = [one for one in found if one.unfair]
    if unfair:
        said = [
            f"{one.key}: {one.says} ({', '.join(f'{label} {_shown(v)}' for label, v in one.values.items())})" for one in unfair
        ]
        raise TrustError(
            f"the comparison would be unfair; {'; '.join(said)}",
            "measure both with the same profile, or --force to see it anyway",
        )


def _shown(value: object) -> str:
    """On one line, whatever a stranger's file says."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(value)[:200])


def _sides(labelled: Mapping[str, Curve], prices: Mapping[str, Price], counts: Mapping[str, int]) -> tuple[Side, ...]:
    by_name = {curve.name: label for label, curve in labelled.items()}
    for name in (*prices, *counts):
        if name not in labelled and name not in by_name:
            raise UsageError(f"no curve is called {name}", f"curves are called {', '.join(labelled)} in the order of the files")
    given = {by_name.get(name, name): price for name, price in prices.items()}
    counted = {by_name.get(name, name): count for name, count in counts.items()}
    made = []
    for label, curve in labelled.items():
        declared = stated(curve)
        price = given.get(label, declared)
        made.append(
            Side(
                label=label,
                name=curve.name,
                model=curve.endpoint.model,
                url=curve.endpoint.url,
                measured_at=curve.created_at,
                digest=curve.digest,
                accelerators=counted.get(label, accelerators(curve)),
                runs=_runs(curve),
                price_per_accelerator_hour=price.per_accelerator_hour,
                price_per_million_output_tokens=price.per_million_output_tokens,
                currency=price.currency or declared.currency,
            )
        )
    return tuple(made)


def _runs(curve: Curve) -> int:
    levels = Counter(point.load.level for point in curve.points if not point.disqualified)
    return min(levels.values(), default=0)


def _basis(sides: Sequence[Side]) -> dict[str, float]:
    """ln of the accelerators by label; empty unless all are counted."""
    known = {side.label: math.log(side.accelerators) for side in sides if side.accelerators}
    return known if len(known) == len(sides) else {}


def _paired(curves: Sequence[Curve]) -> bool:
    groups = {noise.pairing(curve) for curve in curves}
    return len(groups) == 1 and None not in groups


def _deliver(side: Plane, target: Target) -> Delivery:
    return under(side, target.slo) if target.slo is not None else at_x(side, target.x or 0.0)


def _verdicts(
    asked: Sequence[Target],
    sides: Sequence[Side],
    priced: Mapping[str, Mapping[str, budget.Priced]],
    basis: Mapping[str, float],
    delta: float,
) -> tuple[Verdict, ...]:
    """Throughput first, cost where both prices are known; each is a family of its own for Holm."""
    made: list[Verdict] = []
    pairs = list(combinations([side.label for side in sides], 2))
    same_currency = budget.currency(sides) is not None
    for of in ("throughput", "cost"):
        found: list[tuple[str, str, str, Pair]] = []
        for target in asked:
            for a, b in pairs:
                here = priced[target.name]
                pair = (
                    budget.throughputs(here[a], here[b], basis.get(a, 0.0) - basis.get(b, 0.0))
                    if of == "throughput"
                    else budget.costs(here[a], here[b])
                )
                if pair is not None and (of == "throughput" or same_currency):
                    found.append((target.name, a, b, pair))
        differs = judge.holm([pair.p_differs for *_, pair in found])
        equivalent = judge.holm([pair.p_equivalent(delta) for *_, pair in found])
        for (name, a, b, pair), p, q in zip(found, differs, equivalent, strict=True):
            call = judge.call(pair.value, p, q, more_is_better=of == "throughput") if pair.draws is not None else "inconclusive"
            decided = pair.draws is not None
            made.append(
                Verdict(
                    target=name,
                    of=of,
                    a=a,
                    b=b,
                    call=call,
                    ratio=ratio_of(pair),
                    p_differs=p if decided else None,
                    p_equivalent=q if decided else None,
                )
            )
    return tuple(made)


def _gain(a: Plane, b: Plane, basis: Mapping[str, float], delta: float) -> Gain:
    shared = plane.window((a, b)) if a.vertices and b.vertices else None
    if shared is None:
        return Gain(a=a.label, b=b.label, window=None, ratio=Ratio(value=None))
    per = basis.get(a.label, 0.0) - basis.get(b.label, 0.0)
    value = float(gain.mean_ln_ratio(a.still, b.still)[0]) - per
    draws = None
    if a.moved is not None and b.moved is not None:
        draws = noise.welch(value, gain.mean_ln_ratio(a.moved, b.moved) - per, (*a.sources, *b.sources))
    least, most = gain.bracket(a.vertices, b.vertices, shared)
    pair = Pair(value, draws, math.log(least) - per, math.log(most) - per)
    shape = gain.shape(a.still, b.still, shared, delta, per)
    return Gain(a=a.label, b=b.label, window=shared, ratio=ratio_of(pair), **msgspec.structs.asdict(shape))


def unmet(compared: Comparison) -> list[str]:
    """The targets asked for that no curve is shown to meet."""
    return [
        answer.target.name
        for answer in compared.answers
        if answer.target.demanded and all(served.tok_per_s.value is None for served in answer.served)
    ]
