"""What work takes of money and energy, as tables."""

from __future__ import annotations

from sweep.curve.compare.nouns import Comparison, Side
from sweep.curve.compare.outlay import priced
from sweep.report import quantity, work
from sweep.report.compare import names
from sweep.report.compare.grid import Table
from sweep.report.compare.names import MISSING


def price(side: Side, compared: Comparison) -> str:
    unit = f" {side.currency}" if side.currency else ""
    if side.price_per_million_output_tokens is not None:
        return f"{quantity.significant(side.price_per_million_output_tokens)}{unit} / M {work.many(compared.rate_unit)}"
    hour = side.price_per_accelerator_hour
    return MISSING if hour is None else f"{quantity.significant(hour)}{unit} / acc. h"


def costs(compared: Comparison) -> Table | None:
    """Demand-weighted cost, and what a cost ceiling buys, as far as they were asked for."""
    if not compared.demand and not compared.within:
        return None
    head, rows, notes = [""], [[side.label] for side in compared.sides], []
    if compared.demand:
        head += [names.cost_head(compared), "95 %", "not served", "undecided"]
        for row, mix in zip(rows, compared.demand, strict=True):
            cost = mix.cost_per_million
            row += [names.money(cost.value if cost else None, compared, mix.label), quantity.interval(cost) or MISSING]
            row += [quantity.percent(mix.unreachable_share), quantity.percent(mix.undecided_share)]
        notes.append(
            "The mean over your demand, weighted, of what is served: costs of different shares are costs of different things. Not served: out of "
            "reach, or an SLO missed at every load. Undecided: too few requests to say."
        )
    if compared.within:
        head += [f"best {names.x_unit(compared)} under {names.money(compared.within[0].cost_ceiling, compared)}", "measured"]
        for row, side, best in zip(rows, compared.sides, compared.within, strict=True):
            none = "never" if priced(side) else MISSING
            row += [none if x is None else quantity.significant(x) for x in (best.x, best.measured_x)]
    title = "Cost of your demand" if compared.demand else "What the cost ceiling buys"
    return Table(title, tuple(head), tuple(map(tuple, rows)), 1, " ".join(notes))


def energies(compared: Comparison) -> Table | None:
    """What a unit of work takes of energy, for each side at each target; None where no power is known."""
    rows = []
    for each in compared.answers:
        for place, served in enumerate(each.served):
            energy = served.energy
            cells = [MISSING] * 5
            if energy is not None:
                cells = [
                    quantity.significant(energy.per_token_j.value),
                    quantity.interval(energy.per_token_j) or MISSING,
                    quantity.count(energy.tok_per_s_per_mw),
                    quantity.watts(energy.power_w),
                    energy.known,
                ]
            rows.append((names.target(each.target, compared) if place == 0 else "", served.label, *cells))
    if all(row[-1] == MISSING for row in rows):
        return None
    one = work.one(compared.rate_unit)
    head = ("target", "", f"J / {one}", "95 %", f"{compared.rate_unit} per MW", "power", "power is")
    note = (
        f"Power of the whole system over its {work.many(compared.rate_unit)} a second, under an SLO the good ones. Measured: of the accelerators, in the "
        "windows of the loads. Declared: watts of one accelerator times their number, the same at every load; it counts what its author counted."
    )
    return Table("Energy at the targets", head, tuple(rows), 2, note)
