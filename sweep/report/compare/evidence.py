"""The evidence behind an answer, in sentences: every target with its numbers and verdicts, then the curves as a whole."""

from __future__ import annotations

from sweep.curve.compare.nouns import Answer, Comparison, Gain, Served, Side, Verdict
from sweep.report import quantity
from sweep.report.compare import names
from sweep.report.compare.words import capital, decisive


def call(verdict: Verdict) -> str:
    return names.CALLS[verdict.call].format(a=verdict.a, b=verdict.b)


def evidence(compared: Comparison) -> list[str]:
    return [*(_at(compared, each) for each in compared.answers), *(gain(compared, each) for each in compared.gains)]


def _at(compared: Comparison, each: Answer) -> str:
    unit = f"{names.counted(compared, good=each.target.slo is not None)} {names.rate_unit(compared)}"
    pairs = zip(compared.sides, each.served, strict=True)
    said = "; ".join(f"{side.label} {delivered(side, served, names.scale(side, compared), unit)}" for side, served in pairs)
    verdicts = [
        verdict for verdict in compared.verdicts if verdict.target == each.target.name and verdict.ratio.value is not None
    ]
    if len(compared.sides) > 2:
        own = [verdict for verdict in verdicts if verdict.of == decisive(compared)]
        told = [", ".join(f"{_pair(verdict)} {names.times(verdict.ratio.value)} ({call(verdict)})" for verdict in own)]
    else:
        told = [capital(f"{_pair(verdict)} {names.ratio(verdict.ratio)}: {call(verdict)}") for verdict in verdicts]
    return ". ".join([f"At {names.target(each.target, compared)}: {said}", *filter(None, told)]) + "."


def _pair(verdict: Verdict) -> str:
    return f"{'' if verdict.of == 'throughput' else f'{verdict.of} of '}{verdict.a}/{verdict.b}"


def delivered(side: Side, served: Served, per: float, unit: str) -> str:
    """`595 good tok/s/accelerator (357 to 909), interpolated between loads 64 and 128`."""
    if served.tok_per_s.value is None:
        why = "too few requests" if side.runs else "no point can be trusted"
        return f"cannot be decided: {why}" if served.standing == "undecided" else "does not reach it"
    between = f", {standing(served)}"
    value = quantity.significant(served.tok_per_s.value * per)
    span = quantity.interval(served.tok_per_s, per)
    return f"{value} {unit}{f' ({span})' if span else ''}{between}"


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
    sure = [quantity.significant(x) for x in each.sure_crossings]
    level = f"; level at {names.targets(sure)}" if sure else "; where they cross is not certain" if each.crossings else ""
    return (
        f"Over what {each.a} and {each.b} both cover, {low} to {high} {names.x_unit(compared)}, {each.a}/{each.b} is "
        f"{names.ratio(each.ratio)} on average; {each.a} is more than {edge} ahead on {quantity.percent(each.share_won)} "
        f"of it and behind on {quantity.percent(each.share_lost)}{level}."
    )
