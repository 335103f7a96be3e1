"""The answer as one small table: what every side brings at every target, and who is ahead by how much."""

from __future__ import annotations

from dataclasses import dataclass

from sweep.curve.compare.nouns import Answer, Comparison
from sweep.report import quantity
from sweep.report.compare import amounts, names, tables, words


@dataclass(frozen=True, slots=True)
class Brought:
    """One side at one target; `ahead` where it stands out."""

    label: str
    text: str
    interval: str
    ahead: bool


@dataclass(frozen=True, slots=True)
class Row:
    """`outcome` is the verdict on what decides: cost where prices are known, else throughput."""

    target: str
    brought: tuple[Brought, ...]
    outcome: str
    sure: str


def head(compared: Comparison) -> str:
    """What the numbers are: `good tok/s per accelerator`."""
    unit = names.rate_unit(compared).replace("/accelerator", " per accelerator")
    kinds = [names.counted(compared, good=good) for good, _ in tables.by_kind(compared)]
    return f"{kinds[0]} {unit}" if len(kinds) == 1 else f"{unit}, good ones under an SLO, {kinds[-1]} elsewhere"


def rows(compared: Comparison) -> list[Row]:
    return [_row(compared, each) for each in compared.answers]


def _row(compared: Comparison, each: Answer) -> Row:
    of = words.decisive(compared)
    found = words.standing_out(compared, each, of)
    first = () if isinstance(found, str) else found
    outcome, sure = {
        words.UNDECIDED: ("undecided", ""),
        words.EQUAL: ("equivalent", ""),
        words.NOBODY: ("out of reach", ""),
    }.get(found if isinstance(found, str) else "", (names.targets(first) if first else "", ""))
    if len(first) == 1:
        outcome, sure = _margin(compared, each, first[0])
    return Row(names.target(each.target, compared), tuple(_brought(compared, each, first)), outcome, sure)


def _brought(compared: Comparison, each: Answer, first: tuple[str, ...]) -> list[Brought]:
    made = []
    for side, served in zip(compared.sides, each.served, strict=True):
        per = names.scale(side, compared)
        value = served.tok_per_s.value
        text = quantity.significant(value * per) if value is not None else served.standing
        made.append(Brought(served.label, text, quantity.interval(served.tok_per_s, per), served.label in first))
    return made


def _margin(compared: Comparison, each: Answer, label: str) -> tuple[str, str]:
    """`B costs 13 % less`, `11 to 15 %`."""
    of = words.decisive(compared)
    ahead = words.margin(compared, of, label, [each])
    if ahead is None:
        return f"{label} alone gets there", ""
    said = f"{label} {'costs' if of == 'cost' else 'delivers'} {amounts.alone(ahead.found)}"
    return said, f"95 %: {amounts.span(ahead.sure, ahead.found)}" if ahead.sure else ""
