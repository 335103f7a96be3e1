"""Nights told apart by what they measured: those of one workload make a history, and those taken close together are one night."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median, median_low

import msgspec

from sweep.curve.nightly.history import Found
from sweep.curve.nightly.night import averaged
from sweep.curve.workload import LENGTH_TOLERANCE
from sweep.model import Night, NightCell, SetAside

RESTART = 3  # nights of a new workload after which the history is about that one
MIN_CADENCE_NIGHTS = 8
SAME_NIGHT = 0.25  # of the usual gap: curves so close were taken from one state of the system


@dataclass(frozen=True, slots=True)
class Comparable:
    """Nights of one workload, and why others are not among them. `unfair`: the latest of all is one of those."""

    title: str
    nights: tuple[Night, ...]
    set_aside: tuple[SetAside, ...]
    unfair: str | None


def histories(found: Found) -> list[Comparable]:
    """One history a model, profile and kind of load, by title. Files that are no curves go with each."""
    groups: dict[tuple[str, str, str], list[Night]] = {}
    for night in found.nights:
        groups.setdefault((night.model, night.profile.name, night.plan.kind), []).append(night)
    several_kinds = Counter((model, profile) for model, profile, _ in groups)
    made = []
    for (model, profile, kind), nights in sorted(groups.items()):
        title = f"{model} · {profile}" + (f" · {kind}" if several_kinds[model, profile] > 1 else "")
        group = comparable(title, nights)
        made.append(replace(group, set_aside=(*found.set_aside, *group.set_aside)))
    return made


def comparable(title: str, nights: Sequence[Night]) -> Comparable:
    """Those of the latest workload that `RESTART` nights share, or of the most frequent one; lengths within 5 % of theirs."""
    meant = _workload(nights)
    reasons: dict[int, str] = {}
    for place, night in enumerate(nights):
        differing = [key for key in meant if night.workload.get(key) != meant[key]]
        if differing:
            reasons[place] = "; ".join(f"{key} {_said(night.workload.get(key))}, not {_said(meant[key])}" for key in differing)
    for name in ("isl_mean", "osl_mean"):
        lengths = [value for place, night in enumerate(nights) if place not in reasons and (value := getattr(night, name))]
        usual = median_low(lengths) if lengths else None
        for place, night in enumerate(nights):
            value = getattr(night, name)
            if usual and value and abs(value - usual) > LENGTH_TOLERANCE * max(value, usual):
                reasons.setdefault(place, f"realised {name.removesuffix('_mean').upper()} {value:.0f}, usually {usual:.0f}")
    kept = tuple(night for place, night in enumerate(nights) if place not in reasons)
    aside = tuple(SetAside(file=nights[place].file, reason=reason) for place, reason in sorted(reasons.items()))
    return Comparable(title, same_night_together(kept), aside, reasons.get(len(nights) - 1))


def _workload(nights: Sequence[Night]) -> dict[str, object]:
    keys = [msgspec.json.encode(night.workload, order="sorted") for night in nights]
    for place in range(len(keys) - 1, RESTART - 2, -1):
        if len(set(keys[place - RESTART + 1 : place + 1])) == 1:
            return nights[place].workload
    frequent = Counter(reversed(keys)).most_common(1)[0][0]
    return nights[keys.index(frequent)].workload


def _said(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part:g}" for key, part in value.items() if part is not None)
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def same_night_together(nights: Sequence[Night]) -> tuple[Night, ...]:
    """Curves much closer in time than is usual share the night's noise: together they are one night, averaged."""
    gaps = [later.at_s - earlier.at_s for earlier, later in pairwise(nights)]
    cadence_s = median(gaps) if len(nights) >= MIN_CADENCE_NIGHTS else 0.0
    made: list[list[Night]] = []
    for place, night in enumerate(nights):
        if place and gaps[place - 1] < SAME_NIGHT * cadence_s:
            made[-1].append(night)
        else:
            made.append([night])
    return tuple(_together(group) for group in made)


def _together(group: Sequence[Night]) -> Night:
    if len(group) == 1:
        return group[0]
    cells: dict[str, list[NightCell]] = {}
    for cell in (cell for night in group for cell in night.cells):
        cells.setdefault(cell.load.label, []).append(cell)
    return msgspec.structs.replace(group[-1], cells=tuple(_averaged(same) for same in cells.values()))


def _averaged(cells: Sequence[NightCell]) -> NightCell:
    return NightCell(
        load=cells[0].load,
        cohort=sum(cell.cohort for cell in cells),
        failed=sum(cell.failed for cell in cells),
        disqualified=all(cell.disqualified for cell in cells),
        values=averaged([cell.values for cell in cells]),
    )
