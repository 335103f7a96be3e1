"""A comparison in sentences: the answer, then the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sweep.curve.compare.nouns import Answer, Comparison, Measure, Ratio, Verdict
from sweep.report import quantity, work
from sweep.report.compare import amounts, names

UNDECIDED, EQUAL, NOBODY = "undecided", "equal", "nobody"


def answer(compared: Comparison) -> str:
    """The first line: who serves the buyer better, at what, by how much, how sure."""
    if not compared.answers:
        return "Nothing to compare at: no SLO was named and the curves have no frontier on this axis."
    of = decisive(compared)
    places: dict[tuple[str, ...] | str, list[Answer]] = {}
    for each in compared.answers:
        places.setdefault(standing_out(compared, each, of), []).append(each)
    groups = sorted(places.items(), key=lambda group: _rank(group[0]))
    winners = [group for group, _ in groups if not isinstance(group, str)]
    lead = "It depends on the target: " if len(winners) > 1 else ""
    lead = f"Forced, though unfair: {lead.lower()}" if compared.unfair else lead
    said = "; ".join(_group(compared, of, group, at, alone=len(groups) == 1) for group, at in groups)
    return " ".join([f"{lead}{said if lead else capital(said)}.", *_over_demand(compared)])


def _over_demand(compared: Comparison) -> Iterator[str]:
    """What the buyer's own mix costs, and how much of it goes unserved."""
    costs = [(each.label, each.cost_per_million.value) for each in compared.demand if each.cost_per_million]
    if costs:
        told = names.targets([f"{names.money(cost, compared, label)} at {label}" for label, cost in costs])
        unit = work.many_spelled(compared.rate_unit)
        yield f"Over your demand a million {unit} cost {told}."
    unserved: dict[str, list[str]] = {}
    for each in compared.demand:
        shares = ((each.unreachable_share, "is out of reach"), (each.undecided_share, "is undecided"))
        told = " and ".join(f"{quantity.percent(share)} of it {what}" for share, what in shares if share)
        unserved.setdefault(told, []).append(each.label)
    yield from (f"For {names.targets(labels)} {told}." for told, labels in unserved.items() if told)


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _rank(group: tuple[str, ...] | str) -> tuple[int, str]:
    if isinstance(group, str):
        return (2 + (EQUAL, UNDECIDED, NOBODY).index(group), group)
    return (0 if len(group) == 1 else 1, group[0])


def _group(compared: Comparison, of: Measure, group: tuple[str, ...] | str, at: Sequence[Answer], *, alone: bool) -> str:
    """The targets with one outcome in a clause."""
    labels = [side.label for side in compared.sides]
    where = "every target" if alone and len(at) > 1 else names.targets([names.target(each.target, compared) for each in at])
    if group == NOBODY:
        who = f"neither {labels[0]} nor {labels[1]}" if len(labels) == 2 else "no curve"
        return f"{who} {'reaches' if all(each.target.slo is None for each in at) else 'meets'} {where} at any load measured"
    if group == EQUAL:
        return f"{names.targets(labels)} are equivalent at {where}: surely within {names.percent(compared.delta)} of each other"
    if group == UNDECIDED:
        return f"undecided at {where}{_open(compared, of, at)}"
    called = {side.label: names.side(side) for side in compared.sides}
    if len(group) > 1:
        beaten = [label for label in called if label not in group]
        return f"{names.targets(group)} beat {names.targets(beaten)} at {where}, undecided among themselves"
    return f"{called[group[0]]} is {_by_how_much(compared, of, group[0], where, at)}"


@dataclass(frozen=True, slots=True)
class Margin:
    """How far a side is ahead of its closest rival, over some targets; `sure` spans the intervals."""

    rivals: tuple[str, ...]
    found: amounts.Range
    sure: amounts.Range | None


def margin(compared: Comparison, of: Measure, label: str, at: Sequence[Answer]) -> Margin | None:
    """None where no rival gets to any of these targets."""
    rivals: dict[str, tuple[str, Ratio]] = {}
    for verdict in _of(compared, of, at):
        if winner(verdict) == label and verdict.ratio.value:
            ratio, held = _seen_from(verdict, label), rivals.get(verdict.target)
            if held is None or amounts.farther(held[1], ratio):
                rivals[verdict.target] = (_other(verdict, label), ratio)
    ratios = [ratio for _, ratio in rivals.values()]
    found = amounts.values(ratios)
    names_of_rivals = tuple(dict.fromkeys(rival for rival, _ in rivals.values()))
    return None if found is None else Margin(names_of_rivals, found, amounts.intervals(ratios))


def _by_how_much(compared: Comparison, of: Measure, label: str, where: str, at: Sequence[Answer]) -> str:
    """`cheaper at …: a token costs 25 to 30 % less than at B (95 %: 23 to 32 %)`."""
    ahead = margin(compared, of, label, at)
    if ahead is None:
        beaten = names.targets([side.label for side in compared.sides if side.label != label])
        return f"better at {where}: {beaten} {'does' if len(compared.sides) == 2 else 'do'} not get there"
    rival = ahead.rivals[0] if len(ahead.rivals) == 1 else "the next"
    interval = f" (95 %: {amounts.span(ahead.sure, ahead.found)})" if ahead.sure else ""
    there, apart = _reached(compared, of, label, at, rival)
    if of == "cost":
        unit = work.spelled(compared.rate_unit)
        return f"cheaper at {where}: {there}a {unit} costs {amounts.than(ahead.found)} at {rival}{interval}{apart}"
    per = " per accelerator" if compared.basis == "accelerator" else ""
    return f"better at {where}: {there}it delivers {amounts.than(ahead.found)} {rival}{per}{interval}{apart}"


def _reached(compared: Comparison, of: Measure, label: str, at: Sequence[Answer], rival: str) -> tuple[str, str]:
    """Where the margin is to be had, before it, and where no rival gets, after it; both empty where rivals get everywhere."""
    lonely = [each for each in at if margin(compared, of, label, [each]) is None]
    if not lonely:
        return "", ""
    there, beyond = (
        names.targets([names.target(each.target, compared) for each in at if (each in lonely) is alone])
        for alone in (False, True)
    )
    nobody = f"{rival} does not get" if len(compared.sides) == 2 else "no other gets"
    return f"at {there} ", f", and {nobody} to {beyond}"


def _open(compared: Comparison, of: Measure, at: Sequence[Answer]) -> str:
    """Why it is not decided: nothing to trust, too few requests, or between what the ratio lies."""
    trusted = [side.label for side in compared.sides if side.runs]
    if len(trusted) < 2:
        silent = [side.label for side in compared.sides if not side.runs]
        return f": no point of {names.targets(silent)} can be trusted"
    scarce = [label for label in trusted if any(_standing(each, label) == "undecided" for each in at)]
    if scarce and all(any(served.standing == "undecided" for served in each.served) for each in at):
        what = "it" if len(at) == 1 else "them"
        return f": too few requests to say whether {names.targets(scarce)} {'meets' if len(scarce) == 1 else 'meet'} {what}"
    if len(compared.sides) > 2:
        return ""
    a, b = (side.label for side in compared.sides)
    ratios = [verdict.ratio for verdict in _of(compared, of, at)]
    found, sure = amounts.values(ratios), amounts.intervals(ratios)
    if found is None:
        return ""
    if sure is None:
        return f": {a} shows {amounts.than(found)} {b}, but with what uncertainty is not known"
    if of == "cost":
        return f": a {work.spelled(compared.rate_unit)} of {a} may cost {amounts.than(sure)} one of {b}"
    per = " per accelerator" if compared.basis == "accelerator" else ""
    return f": {a} may deliver {amounts.than(sure)} {b}{per}"


def _standing(each: Answer, label: str) -> str:
    return next(served.standing for served in each.served if served.label == label)


def _of(compared: Comparison, of: Measure, at: Sequence[Answer]) -> list[Verdict]:
    asked = {each.target.name for each in at}
    return [verdict for verdict in compared.verdicts if verdict.of == of and verdict.target in asked]


def _seen_from(verdict: Verdict, label: str) -> Ratio:
    """The ratio of this side over the other."""
    if verdict.a == label:
        return verdict.ratio
    value, low, high = (1 / end if end else None for end in (verdict.ratio.value, verdict.ratio.high, verdict.ratio.low))
    return Ratio(value=value, low=low, high=high)


def decisive(compared: Comparison) -> Measure:
    """Cost decides where it is known, throughput elsewhere."""
    return "cost" if any(verdict.of == "cost" for verdict in compared.verdicts) else "throughput"


def standing_out(compared: Comparison, each: Answer, of: Measure) -> tuple[str, ...] | str:
    """The sides that no other is better than at a target, if that leaves some out; else why none stands out."""
    here = [verdict for verdict in compared.verdicts if verdict.target == each.target.name and verdict.of == of]
    if all(served.tok_per_s.value is None for served in each.served):
        return UNDECIDED if any(served.standing == "undecided" for served in each.served) else NOBODY
    if here and all(verdict.call == "equivalent" for verdict in here):
        return EQUAL
    sides = [side.label for side in compared.sides]
    beats = {label: {_other(verdict, label) for verdict in here if winner(verdict) == label} for label in sides}
    first = [label for label in sides if len(beats[label]) == len(sides) - 1]
    if first:
        return (first[0],)
    ahead = [label for label in sides if not any(label in beaten for beaten in beats.values())]
    behind = [label for label in sides if label not in ahead]
    if behind and all(set(behind) <= beats[label] for label in ahead):
        return tuple(ahead)
    return UNDECIDED


def _other(verdict: Verdict, label: str) -> str:
    return verdict.b if verdict.a == label else verdict.a


def winner(verdict: Verdict) -> str | None:
    return {"better": verdict.a, "worse": verdict.b}.get(verdict.call)
