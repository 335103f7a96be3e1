"""A comparison in sentences: the answer, the evidence, and what would make it surer."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sweep.curve.compare.nouns import Answer, Comparison, Gain, Measure, Served, Verdict
from sweep.report import quantity, work
from sweep.report.compare import names

UNDECIDED, EQUAL, NOBODY = "undecided", "equal", "nobody"
WIDE = 1.10  # a bracket wider than this is worth a measurement
REACH = 9  # sentences of advice, at most


def answer(compared: Comparison) -> str:
    """The first line: who serves the buyer better, at what, by how much."""
    if not compared.answers:
        return "Nothing to compare at: no SLO was named and the curves have no frontier on this axis."
    of = decisive(compared)
    places: dict[tuple[str, ...] | str, list[str]] = {}
    for each in compared.answers:
        places.setdefault(standing_out(compared, each, of), []).append(names.target(each.target, compared))
    groups = sorted(places.items(), key=lambda group: _rank(group[0]))
    winners = [group for group, _ in groups if not isinstance(group, str)]
    everywhere = len(groups) == 1 and len(compared.answers) > 1
    lead = "It depends on the target: " if len(winners) > 1 else ""
    said = "; ".join(_group(compared, of, group, "every target" if everywhere else names.targets(at)) for group, at in groups)
    return f"{lead}{said[0].upper() if not lead else said[0]}{said[1:]}."


def _rank(group: tuple[str, ...] | str) -> tuple[int, str]:
    if isinstance(group, str):
        return (2 + (EQUAL, UNDECIDED, NOBODY).index(group), group)
    return (0 if len(group) == 1 else 1, group[0])


def _group(compared: Comparison, of: Measure, group: tuple[str, ...] | str, at: str) -> str:
    if group == EQUAL:
        return f"equivalent, within {names.percent(compared.delta)}, at {at}"
    if group == UNDECIDED:
        return f"these measurements do not decide at {at}"
    if group == NOBODY:
        return f"no curve is shown to meet {at}"
    called = {side.label: names.side(side) for side in compared.sides}
    if len(group) > 1:
        beaten = [label for label in called if label not in group]
        return f"{names.targets(group)} beat {names.targets(beaten)}, undecided among themselves, at {at}"
    return f"{called[group[0]]} is better at {at}{_by_how_much(compared, of, group[0])}"


def _by_how_much(compared: Comparison, of: Measure, label: str) -> str:
    """`, 0.70 to 0.75× the cost per token`: over the targets where this side wins, against its closest rival there."""
    what = (
        f"cost per {work.spelled(compared.rate_unit)}"
        if of == "cost"
        else f"output{' per accelerator' if compared.basis == 'accelerator' else ''}"
    )
    led = {each.target.name for each in compared.answers if standing_out(compared, each, of) == (label,)}
    closest: dict[str, float] = {}
    for verdict in compared.verdicts:
        if verdict.of == of and verdict.target in led and winner(verdict) == label and verdict.ratio.value:
            ratio = verdict.ratio.value if verdict.a == label else 1 / verdict.ratio.value
            closest[verdict.target] = min(ratio, closest.get(verdict.target, ratio), key=lambda value: abs(math.log(value)))
    if not closest:
        return ""
    low, high = (quantity.significant(value) for value in (min(closest.values()), max(closest.values())))
    return f", {low if low == high else f'{low} to {high}'}× the {what}{' of the next' if len(compared.sides) > 2 else ''}"


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


def call(verdict: Verdict) -> str:
    return names.CALLS[verdict.call].format(a=verdict.a, b=verdict.b)


def evidence(compared: Comparison) -> list[str]:
    """Every target with its numbers and verdicts, then the curves as a whole."""
    return [*(_at(compared, each) for each in compared.answers), *(gain(compared, each) for each in compared.gains)]


def _at(compared: Comparison, each: Answer) -> str:
    counts = {side.label: side.accelerators or 1 for side in compared.sides}
    per = {label: 1 / count if compared.basis == "accelerator" else 1.0 for label, count in counts.items()}
    said = "; ".join(f"{served.label} {delivered(served, per[served.label], compared)}" for served in each.served)
    verdicts = [
        verdict for verdict in compared.verdicts if verdict.target == each.target.name and verdict.ratio.value is not None
    ]
    if len(compared.sides) > 2:
        own = [verdict for verdict in verdicts if verdict.of == decisive(compared)]
        told = [
            ", ".join(f"{_pair(verdict)} {quantity.significant(verdict.ratio.value)}× ({call(verdict)})" for verdict in own)
        ]
    else:
        told = [f"{_pair(verdict)} {names.ratio(verdict.ratio)}: {call(verdict)}" for verdict in verdicts]
    return ". ".join([f"At {names.target(each.target, compared)}: {said}", *filter(None, told)]) + "."


def _pair(verdict: Verdict) -> str:
    return f"{'' if verdict.of == 'throughput' else f'{verdict.of} of '}{verdict.a}/{verdict.b}"


def delivered(served: Served, per: float, compared: Comparison) -> str:
    """`595 tok/s/accelerator (357 to 909), interpolated between concurrency 64 and 128`."""
    if served.tok_per_s.value is None:
        return "cannot be decided: too few requests" if served.standing == "undecided" else "does not reach it"
    between = f", {standing(served)}"
    value = quantity.significant(served.tok_per_s.value * per)
    span = names.estimate_span(served.tok_per_s, per)
    return f"{value} {names.rate_unit(compared)}{'' if span == names.MISSING else f' ({span})'}{between}"


def standing(served: Served) -> str:
    levels = [f"{level:g}" for level in served.loads]
    if served.standing == "interpolated" and len(levels) > 1:
        return f"interpolated between loads {levels[0]} and {levels[-1]}"
    if served.standing == "interpolated" and levels:
        return f"as measured at load {levels[0]}"
    return f"measured at load {levels[0]}" if served.standing == "measured" and levels else served.standing


def standing_in_brief(served: Served) -> str:
    """`16` as measured there, `16…32` interpolated between them."""
    if served.standing in ("measured", "interpolated") and served.loads:
        ends = served.loads if served.standing == "interpolated" else served.loads[:1]
        return "…".join(dict.fromkeys(f"{level:g}" for level in (ends[0], ends[-1])))
    return served.standing


def gain(compared: Comparison, each: Gain) -> str:
    """The two curves over the x they share."""
    if each.window is None or each.share_won is None or each.share_lost is None:
        return f"{each.a} and {each.b} share no stretch of this axis: no mean ratio."
    low, high = (quantity.significant(x) for x in each.window)
    edge = names.percent(compared.delta)
    crossings = [quantity.significant(x) for x in each.crossings]
    level = f"; level at {names.targets(crossings)}" if crossings else ""
    return (
        f"Over what {each.a} and {each.b} both cover, {low} to {high} {names.x_unit(compared)}, {each.a}/{each.b} is "
        f"{names.ratio(each.ratio)} on average; {each.a} is more than {edge} ahead on {quantity.percent(each.share_won)} "
        f"of it and behind on {quantity.percent(each.share_lost)}{level}."
    )


def caveats(compared: Comparison) -> list[str]:
    """What is not the same on all sides, unfair things first."""
    return [
        f"{'UNFAIR: ' if one.unfair else ''}{one.says} ({', '.join(f'{label} {_said(value)}' for label, value in one.values.items())})"
        for one in compared.differences
    ]


def _said(value: object) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return quantity.significant(value, 4)
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {inner:g}" if isinstance(inner, int | float) else f"{key} {inner}"
            for key, inner in value.items()
            if inner is not None
        )
    if isinstance(value, list | tuple):
        return ", ".join(_said(inner) for inner in value)
    return names.short(str(value))


def surer(compared: Comparison) -> list[str]:
    """What to do next, most useful first."""
    return list(dict.fromkeys(_advice(compared)))[:REACH]


def _advice(compared: Comparison) -> Iterable[str]:
    if compared.unfair:
        yield "Measure all sides with the same profile, start and token accounting; until then the numbers above mislead."
    open_targets = {verdict.target for verdict in compared.verdicts if verdict.call == "inconclusive"}
    for each in compared.answers:
        for served in each.served:
            if served.standing == "undecided":
                yield (
                    f"Ask {served.label} for more requests (--requests) at the loads near {names.target(each.target, compared)}: "
                    "too few were measured to say whether it holds."
                )
    for each in compared.answers:
        for served in each.served:
            wide = served.attained and served.ceiling and served.ceiling > WIDE * served.attained
            if wide and len(served.loads) > 1:
                low, high = served.loads[0], served.loads[-1]
                yield (
                    f"Measure {served.label} at a load between {low:g} and {high:g} (--grid {_between(low, high)}): "
                    f"at {names.target(each.target, compared)} its measurements leave {quantity.significant(served.attained)} "
                    f"to {quantity.significant(served.ceiling)} {compared.rate_unit}."
                )
    once = [side.label for side in compared.sides if side.runs < 3]
    if once:
        what = (
            "Loads were measured fewer than three times"
            if len(once) == len(compared.sides)
            else f"{names.targets(once)}: fewer than three runs a load"
        )
        yield f"{what}; how much one run differs from the next is not in these intervals: --repeat 3."
    if open_targets and not compared.paired:
        yield "Measure in alternation (sweep run --endpoint A --endpoint B --interleave), so that the time of day cannot decide."
    if compared.unknown_noise:
        yield f"{names.targets(list(compared.unknown_noise))}: values without intervals decide nothing; measure with sweep."
    yield from _missing(compared)


def _missing(compared: Comparison) -> Iterable[str]:
    uncounted = [side.label for side in compared.sides if side.accelerators is None]
    by_token = {side.label for side in compared.sides if side.price_per_million_output_tokens is not None}
    if uncounted and not set(uncounted) <= by_token:
        example = " ".join(f"--accelerators {label}=8" for label in uncounted)
        yield f"State how many accelerators stand behind {names.targets(uncounted)} ({example}); until then whole systems are compared."
    unpriced = [side.label for side in compared.sides if side.price_per_accelerator_hour is None and side.label not in by_token]
    if unpriced:
        yield f"State prices to see what tokens cost ({' '.join(f'--price {label}=2.50' for label in unpriced)}, per accelerator-hour)."
    hidden = [one.key for one in compared.differences if one.says.startswith("not verifiable")]
    if hidden:
        yield f"Have the missing answers filled in ({', '.join(hidden)}): sweep describe, or --set when measuring."


def _between(low: float, high: float) -> str:
    middle = (low * high) ** 0.5
    return f"{round(middle)}" if middle >= 2 and low < round(middle) < high else f"{middle:.3g}"
