"""A comparison as tables of text, the same for terminal, Markdown and page."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.curve.compare.nouns import Answer, Comparison
from sweep.model import Curve
from sweep.report import quantity
from sweep.report.axis import bare
from sweep.report.compare import evidence, names, outlays, questions
from sweep.report.compare.grid import Table
from sweep.report.compare.names import MISSING
from sweep.wording import short


def sides(compared: Comparison) -> Table:
    rows = tuple(
        (
            side.label,
            short(side.name, names.NAME),
            short(side.model, names.NAME),
            side.measured_at[:10],
            MISSING if side.accelerators is None else f"{side.accelerators:,}",
            outlays.price(side, compared),
        )
        for side in compared.sides
    )
    return Table("Who is compared", ("", "curve", "model", "measured", "accelerators", "price"), rows, 4)


def targets(compared: Comparison, *, priced: bool | None = None, brief: bool = False) -> list[Table]:
    """One row for each side at each target, SLOs and places apart, since they count different work.

    With costs where a price is known, or as `priced` says; `brief` for 80 columns.
    """
    if priced is None:
        priced = any(side.price_per_accelerator_hour or side.price_per_million_output_tokens for side in compared.sides)
    made = []
    for good, answers in by_kind(compared):
        title = "Goodput under each SLO" if good else f"{bare(compared.y_label).capitalize()} at places on the axis"
        unit = names.rate_unit(compared).replace("/accelerator", "/acc." if brief else " per accelerator")
        rate = names.counted(compared, good=good) + ("\n" if brief else " ") + unit
        cost_head = names.cost_head(compared, good=good)
        cost = ((cost_head.replace("cost ", "cost\n"),) if brief else (cost_head, "95 %")) if priced else ()
        head = ("target", "", rate, "95 %", "proven", *cost, "at load" if brief else "how")
        rows = [row for each in answers for row in _answer_rows(compared, each, priced, brief)]
        note = "Proven: by the measurements alone, from what was attained to what cannot be exceeded."
        made.append(Table(title, head, tuple(rows), 2, f"Good: within the SLO. {note}" if good else note))
    return made


def by_kind(compared: Comparison) -> list[tuple[bool, list[Answer]]]:
    """The targets under SLOs (True) and those on the axis, where there are any."""
    kinds = [(good, [each for each in compared.answers if (each.target.slo is not None) == good]) for good in (True, False)]
    return [(good, answers) for good, answers in kinds if answers]


def _answer_rows(compared: Comparison, each: Answer, priced: bool, brief: bool) -> list[tuple[str, ...]]:
    made = []
    for place, (side, served) in enumerate(zip(compared.sides, each.served, strict=True)):
        per = names.scale(side, compared)
        value = served.tok_per_s.value
        cost = served.cost_per_million
        money = (names.money(cost.value if cost else None, compared, served.label), quantity.interval(cost) or MISSING)
        made.append(
            (
                names.target(each.target, compared) if place == 0 else "",
                served.label,
                MISSING if value is None else quantity.significant(value * per),
                quantity.interval(served.tok_per_s, per) or MISSING,
                quantity.span(served.attained, served.ceiling, per) or MISSING,
                *(money[: 1 if brief else 2] if priced else ()),
                evidence.standing_in_brief(served) if brief else evidence.standing(served),
            )
        )
    return made


def verdicts(compared: Comparison, *, brief: bool = False) -> Table:
    """One row for each pair of sides at each target; `brief` without p-values."""
    titles = {each.target.name: names.target(each.target, compared) for each in compared.answers}
    rows = []
    said = ""
    for verdict in compared.verdicts:
        title = titles[verdict.target]
        p_values = () if brief else (p_value(verdict.p_differs), p_value(verdict.p_equivalent))
        rows.append(
            (
                title if title != said else "",
                f"{verdict.of} {verdict.a}/{verdict.b}",
                names.times(verdict.ratio.value),
                names.ratio_span(verdict.ratio.low, verdict.ratio.high),
                names.ratio_span(verdict.ratio.least, verdict.ratio.most),
                *p_values,
                evidence.call(verdict),
            )
        )
        said = title
    note = (
        f"Equivalent: surely within {names.percent(compared.delta)} (TOST). p-values are adjusted by Holm over all rows of a kind; "
        "below 0.05 decides. Throughput: more is better, and under an SLO goodput is meant; cost and energy: less is."
    )
    p_heads = () if brief else ("p differs", "p equivalent")
    head = ("target", "what", "ratio", "95 %", "proven", *p_heads, "verdict")
    return Table("Verdicts", head, tuple(rows), 2, note)


def loads(compared: Comparison) -> Table | None:
    """The highest load that meets each SLO."""
    rows = []
    for each in compared.answers:
        if each.target.slo is None:
            continue
        for place, served in enumerate(each.served):
            rows.append(
                (
                    names.target(each.target, compared) if place == 0 else "",
                    served.label,
                    _level(served.measured_load),
                    _level(served.measured_load) if served.load == served.measured_load else quantity.significant(served.load),
                    _level(served.fails_at),
                    quantity.percent(served.attainment),
                )
            )
    if not rows:
        return None
    head = ("SLO", "", "met at", "holds up to", "next measured", "requests within it")
    return Table("Highest load that meets each SLO", head, tuple(rows), 2, "Holds up to: interpolated between the two loads.")


def gains(compared: Comparison) -> Table:
    rows = tuple(
        (
            f"{each.a}/{each.b}",
            MISSING
            if each.window is None
            else f"{quantity.significant(each.window[0])} to {quantity.significant(each.window[1])}",
            names.times(each.ratio.value),
            names.ratio_span(each.ratio.low, each.ratio.high),
            names.ratio_span(each.ratio.least, each.ratio.most),
            quantity.percent(each.share_won),
            quantity.percent(each.share_lost),
            _extreme(each.best),
            _extreme(each.worst),
            ", ".join(quantity.significant(x) for x in each.sure_crossings) or ("not certain" if each.crossings else "never"),
        )
        for each in compared.gains
    )
    edge = names.percent(compared.delta)
    head = (
        "",
        names.x_unit(compared),
        "mean ratio",
        "95 %",
        "proven",
        f"ahead > {edge}",
        f"behind > {edge}",
        "best",
        "worst",
        "level at",
    )
    return Table(
        "Over the whole curve (BD-gain)",
        head,
        rows,
        1,
        "Shares of the common window, in ln x. Best and worst: ratio at x. Level at: where the order surely changes.",
    )


def all_of(compared: Comparison, curves: Sequence[Curve]) -> list[Table]:
    made = [sides(compared), *targets(compared), verdicts(compared), loads(compared)]
    made += [outlays.energies(compared), gains(compared), outlays.costs(compared)]
    return [table for table in (*made, *questions.questions(curves, compared)) if table is not None and table.rows]


def p_value(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _level(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.6g}"


def _extreme(place: tuple[float, float] | None) -> str:
    return MISSING if place is None else f"{names.times(place[1])} at {quantity.significant(place[0])}"
