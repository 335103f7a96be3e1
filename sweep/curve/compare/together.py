"""Curve files in, one comparison out. Pure: the same files, questions and seed give the same document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from sweep.curve.compare import demand, fair, gain, judge, outlay, plane, targets
from sweep.curve.compare.delivery import Delivery, at_x
from sweep.curve.compare.goals import under
from sweep.curve.compare.nouns import (
    MEASURES,
    SCHEMA,
    Answer,
    Comparison,
    Difference,
    Measure,
    Side,
    Target,
    Verdict,
)
from sweep.curve.compare.outlay import Offer
from sweep.curve.compare.plane import Plane
from sweep.curve.compare.sides import Given, basis, labels, paired, sides
from sweep.curve.compare.versus import Pair, ratio_of
from sweep.curve.cost import Price
from sweep.curve.workload import shown
from sweep.errors import TrustError
from sweep.model import Curve, Slo

if TYPE_CHECKING:
    from sweep.curve.notebook import CurveFile

DRAWS = 4000


def compare(
    curves: Sequence[Curve | CurveFile],
    *,
    slos: Sequence[Slo] = (),
    at: Sequence[float] = (),
    weights: Mapping[float | str, float] | None = None,
    axis: str | None = None,
    prices: Mapping[str, Price] | None = None,
    counts: Mapping[str, int] | None = None,
    powers: Mapping[str, float] | None = None,
    cost_ceiling: float | None = None,
    delta: float = judge.DELTA,
    seed: int = 0,
    draws: int = DRAWS,
    force: bool = False,
) -> Comparison:
    """What each curve delivers at the buyer's targets, and how sure the differences are.

    `at` is in the axis' unit, and so are keys of `weights` that are numbers; the others are SLOs as `--slo` takes them. `prices`,
    `counts` (accelerators) and `powers` (watts of one) by label (A, B, …) or name of a curve outweigh what the files state.
    Raises TrustError for an unfair comparison, unless `force`; UsageError.
    """
    labelled = labels([each if isinstance(each, Curve) else each.curve for each in curves])
    taking_part = list(labelled.values())
    known = sides(labelled, Given(prices or {}, counts or {}, powers or {}))
    if cost_ceiling is not None:
        outlay.require_price(known)
    found = fair.differences(labelled)
    if not force:
        refuse(found)
    chosen = plane.axis_of(taking_part, axis)
    planes = {label: plane.plane(label, curve, chosen, seed=seed, draws=draws) for label, curve in labelled.items()}
    asked = targets.targets(taking_part, list(planes.values()), slos, at, weights or {})
    per = basis(known)
    offers = {target.name: {side.label: _offer(side, planes[side.label], target) for side in known} for target in asked}
    return Comparison(
        schema=SCHEMA,
        axis=chosen.name,
        x=f"{chosen.metric}.{chosen.statistic}",
        x_label=chosen.x_label,
        y_label=chosen.y_label,
        rate_unit=labelled["A"].endpoint.rate_unit,
        basis="accelerator" if per else "system",
        delta=delta,
        draws=draws,
        seed=seed,
        paired=paired(taking_part),
        currency=outlay.currency(known),
        sides=known,
        differences=found,
        answers=tuple(
            Answer(target=target, served=tuple(offers[target.name][label].served for label in labelled)) for target in asked
        ),
        verdicts=_verdicts(asked, known, offers, per, delta),
        gains=tuple(
            gain.gain(planes[a], planes[b], per.get(a, 0.0) - per.get(b, 0.0), delta) for a, b in combinations(labelled, 2)
        ),
        demand=demand.demand(asked, known, offers),
        within=tuple(demand.within(side, planes[side.label], cost_ceiling) for side in known)
        if cost_ceiling is not None
        else (),
        unknown_noise=tuple(label for label, each in planes.items() if each.vertices and each.moved is None),
    )


def refuse(found: Sequence[Difference]) -> None:
    """Raises TrustError when something forbids the comparison."""
    unfair = [one for one in found if one.unfair]
    if unfair:
        said = [
            f"{one.key}: {one.says} ({', '.join(f'{label} {shown(v)}' for label, v in one.values.items())})" for one in unfair
        ]
        raise TrustError(
            f"the comparison would be unfair; {'; '.join(said)}",
            "measure both with the same profile, or --force to see it anyway",
        )


def _offer(side: Side, on: Plane, target: Target) -> Offer:
    delivery: Delivery = under(on, target.slo) if target.slo is not None else at_x(on, target.x or 0.0)
    return outlay.offer(side, on.curve, delivery)


def _verdicts(
    asked: Sequence[Target],
    known: Sequence[Side],
    offers: Mapping[str, Mapping[str, Offer]],
    per: Mapping[str, float],
    delta: float,
) -> tuple[Verdict, ...]:
    """Throughput first, then cost and energy where both sides' are known; each is a family of its own for Holm."""
    pairs = list(combinations([side.label for side in known], 2))
    same_currency = outlay.currency(known) is not None
    made: list[Verdict] = []
    for of in MEASURES:
        if of == "cost" and not same_currency:
            continue
        found = [
            (target.name, a, b, pair)
            for target in asked
            for a, b in pairs
            if (pair := _pair(of, offers[target.name][a], offers[target.name][b], per)) is not None
        ]
        made += _judged(of, found, delta)
    return tuple(made)


def _pair(of: Measure, a: Offer, b: Offer, per: Mapping[str, float]) -> Pair | None:
    if of == "throughput":
        return outlay.throughputs(a, b, per.get(a.served.label, 0.0) - per.get(b.served.label, 0.0))
    return outlay.outlays(a, b, of)


def _judged(of: Measure, found: Sequence[tuple[str, str, str, Pair]], delta: float) -> Iterator[Verdict]:
    differs = judge.holm([pair.p_differs for *_, pair in found])
    equivalent = judge.holm([pair.p_equivalent(delta) for *_, pair in found])
    for (name, a, b, pair), p, q in zip(found, differs, equivalent, strict=True):
        decided = pair.draws is not None
        yield Verdict(
            target=name,
            of=of,
            a=a,
            b=b,
            call=judge.call(pair.value, p, q, more_is_better=of == "throughput") if decided else "inconclusive",
            ratio=ratio_of(pair),
            p_differs=p if decided else None,
            p_equivalent=q if decided else None,
        )


def unmet(compared: Comparison) -> list[str]:
    """The targets asked for that no curve is shown to meet."""
    return [
        answer.target.name
        for answer in compared.answers
        if answer.target.demanded and all(served.tok_per_s.value is None for served in answer.served)
    ]
