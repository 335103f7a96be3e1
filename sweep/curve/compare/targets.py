"""Where curves are compared: the buyer's SLOs and places on the axis, or, where none is named, those the files suggest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from sweep.curve.compare.nouns import Target
from sweep.curve.compare.plane import Plane, window
from sweep.errors import SloError
from sweep.model import Curve, Slo
from sweep.plan.slo import parse

SUGGESTED_SLOS = 6
SUGGESTED_PLACES = 3
ROUND = (1.0, 2.0, 5.0)


def targets(
    curves: Sequence[Curve],
    planes: Sequence[Plane],
    slos: Sequence[Slo],
    at: Sequence[float],
    weights: Mapping[float | str, float],
) -> tuple[Target, ...]:
    """SLOs first, then places by x. Without any asked for: the SLOs of the files and round places that all curves cover.

    What is weighted is asked for: numbers are places, texts are SLOs. Raises SloError for a text that is none.
    """
    demanded = bool(slos or at or weights)
    weighted_slos = {_one_slo(text): weight for text, weight in weights.items() if isinstance(text, str)}
    weighted_places = {x: weight for x, weight in weights.items() if not isinstance(x, str)}
    wanted = list(dict.fromkeys([*slos, *weighted_slos])) if demanded else _of_files(curves)
    places = sorted({*at, *weighted_places}) if demanded else round_places(planes)
    found = [Target(name=slo.name, slo=slo, weight=weighted_slos.get(slo), demanded=demanded) for slo in wanted]
    found += [Target(name=f"{x:g}", x=x, weight=weighted_places.get(x), demanded=demanded) for x in places]
    return tuple(_named_apart(found))


def _one_slo(text: str) -> Slo:
    found = parse(text)
    if len(found) != 1:
        raise SloError(f"weight of {text!r}: {len(found)} SLOs", "give each SLO a weight of its own")
    return found[0]


def _named_apart(found: Sequence[Target]) -> Iterator[Target]:
    """Two files may call different SLOs the same; the second gets a number."""
    seen: Counter[str] = Counter()
    for target in found:
        seen[target.name] += 1
        again = seen[target.name] > 1
        yield msgspec.structs.replace(target, name=f"{target.name} ({seen[target.name]})") if again else target


def _of_files(curves: Sequence[Curve]) -> list[Slo]:
    by_bounds = {slo.bounds: slo for curve in curves for slo in curve.slos if slo.bounds}
    return list(by_bounds.values())[:SUGGESTED_SLOS]


def round_places(planes: Sequence[Plane]) -> list[float]:
    """Up to three numbers like 10, 20, 50 spread over what all frontiers cover, else over what any does."""
    shared = window(planes)
    ends = [(each.vertices[0].x, each.vertices[-1].x) for each in planes if each.vertices]
    if not ends:
        return []
    low, high = shared or (min(first for first, _ in ends), max(last for _, last in ends))
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [lead * 10.0**decade for decade in decades for lead in ROUND if low <= lead * 10.0**decade <= high]
    if not found:
        return [float(f"{math.sqrt(low * high):.2g}")]
    if len(found) <= SUGGESTED_PLACES:
        return found
    steps = (len(found) - 1) / (SUGGESTED_PLACES - 1)
    return [found[round(place * steps)] for place in range(SUGGESTED_PLACES)]
