"""A comparison in sentences: the answer, the evidence, and what would make it surer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sweep.curve.compare.nouns import Answer, Comparison, Gain, Measure, Served, Verdict
from sweep.report import quantity
from sweep.report.compare import names

UNDECIDED, EQUAL, NOBODY = "undecided", "equal", "nobody"
WIDE = 1.10  # a bracket wider than this is worth a measurement
REACH = 9  # sentences of advice, at most


def answer(compared: Comparison) -> str:
    """The first line: who serves the buyer better, at what, by how much."""
    of = decisive(compared)
    groups: dict[str, list[str]] = {}
    for each in compared.answers:
        groups.setdefault(leader(compared, each, of), []).append(names.target(each.target, compared))
    if not groups:
        return "Nothing to compare at: no SLO was named and the curves have no frontier on this axis."
    sides = {side.label: names.side(side) for side in compared.sides}
    winners = [label for label in sides if label in groups]
    if not winners:
        return _without_winner(groups, compared)
    more = _by_how_much(compared, of)
    if len(winners) == 1 and len(groups) == 1:
        where = f"at {names.targets(groups[winners[0]])}" if len(compared.answers) == 1 else "at every target"
        return f"{sides[winners[0]]} is better {where}{more(winners[0])}."
    parts = [f"{sides[label]} is better at {names.targets(groups[label])}{more(label)}" for label in winners]
    rest = [
        f"{say} at {names.targets(groups[kind])}"
        for kind, say in ((EQUAL, "equivalent"), (UNDECIDED, "undecided"), (NOBODY, "out of everyone's reach"))
        if kind in groups
    ]
    lead = "It depends on the target: " if len(winners) > 1 else ""
    return f"{lead}{'; '.join([*parts, *rest])}."


def _without_winner(groups: Mapping[str, list[str]], compared: Comparison) -> str:
    if set(groups) == {NOBODY}:
        return f"No curve meets {names.targets(groups[NOBODY])}."
    if set(groups) == {EQUAL}:
        return f"The curves are equivalent, within {compared.delta:.0%}, at {names.targets(groups[EQUAL])}."
    if set(groups) == {UNDECIDED}:
        return f"These measurements do not decide between the curves at {names.targets(groups[UNDECIDED])}."
    said = {EQUAL: "equivalent", UNDECIDED: "undecided", NOBODY: "out of everyone's reach"}
    return (
        "No curve is shown to be better: "
        + "; ".join(f"{said[kind]} at {names.targets(where)}" for kind, where in groups.items())
        + "."
    )


def _by_how_much(compared: Comparison, of: Measure) -> Callable[[str], str]:
    """A function: label -> `: 1.3 to 1.6 times the output per accelerator, 0.70 to 0.75 times the cost`."""
    what = "cost per token" if of == "cost" else f"output{' per accelerator' if compared.basis == 'accelerator' else ''}"

    def more(label: str) -> str:
        ratios = []
        for verdict in compared.verdicts:
            if verdict.of == of and label in (verdict.a, verdict.b) and winner(verdict) == label and verdict.ratio.value:
                ratios.append(verdict.ratio.value if verdict.a == label else 1 / verdict.ratio.value)
        if not ratios:
            return ""
        low, high = (quantity.significant(value) for value in (min(ratios), max(ratios)))
        return f", {low if low == high else f'{low} to {high}'}× the {what}"

    return more


def decisive(compared: Comparison) -> Measure:
    """Cost decides where it is known, throughput elsewhere."""
    return "cost" if any(verdict.of == "cost" for verdict in compared.verdicts) else "throughput"


def leader(compared: Comparison, each: Answer, of: Measure) -> str:
    """The side that is better than every other at a target, or why there is none."""
    here = [verdict for verdict in compared.verdicts if verdict.target == each.target.name and verdict.of == of]
    if not any(served.tok_per_s.value for served in each.served):
        return UNDECIDED if any(served.standing == "undecided" for served in each.served) else NOBODY
    for side in compared.sides:
        own = [verdict for verdict in here if side.label in (verdict.a, verdict.b)]
        if own and len(own) == len(compared.sides) - 1 and all(winner(verdict) == side.label for verdict in own):
            return side.label
    return EQUAL if here and all(verdict.call == "equivalent" for verdict in here) else UNDECIDED


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
        f"{verdict.a}/{verdict.b} {verdict.of} {names.ratio(verdict.ratio)}: {call(verdict)}"
        for verdict in compared.verdicts
        if verdict.target == each.target.name
    ]
    return ". ".join([f"At {names.target(each.target, compared)}: {said}", *verdicts]) + "."


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


def gain(compared: Comparison, each: Gain) -> str:
    """The two curves over the x they share."""
    if each.window is None or each.share_won is None or each.share_lost is None:
        return f"{each.a} and {each.b} share no stretch of this axis: no mean ratio."
    low, high = (quantity.significant(x) for x in each.window)
    edge = f"{compared.delta:.0%}".replace("%", " %")
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
                    f"to {quantity.significant(served.ceiling)} tok/s."
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
