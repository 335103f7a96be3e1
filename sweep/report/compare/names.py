"""What sides, targets and units are called."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.curve.compare.nouns import Comparison, Ratio, Side, Target
from sweep.report import axis, quantity, work
from sweep.wording import short

MISSING = quantity.MISSING
NAME = 44  # letters of a name
CALLS = {"better": "{a} better", "worse": "{b} better", "equivalent": "equivalent", "inconclusive": "undecided"}


def side(each: Side) -> str:
    """`A (name)`."""
    return f"{each.label} ({short(each.name, NAME)})"


def x_unit(compared: Comparison) -> str:
    """`tok/s/user` of `… [tok/s/user, TTFT included]`."""
    return axis.unit(compared.x_label)


def target(each: Target, compared: Comparison) -> str:
    if each.slo is not None:
        return quantity.slo_name(each.slo)
    return f"{each.x:,.10g} {x_unit(compared)}".strip()


def targets(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; an SLO with a comma of its own is kept apart by semicolons."""
    if len(names) == 1:
        return names[0]
    if any("," in name for name in names):
        return f"{'; '.join(names[:-1])}; and {names[-1]}"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(share: float) -> str:
    return f"{share * 100:g} %"


def rate_unit(compared: Comparison) -> str:
    per = "/accelerator" if compared.basis == "accelerator" else ""
    return f"{axis.unit(compared.y_label)}{per}"


def scale(each: Side, compared: Comparison) -> float:
    """What the throughput of a whole system is multiplied by to be in `rate_unit`."""
    return 1 / (each.accelerators or 1) if compared.basis == "accelerator" else 1.0


def counted(compared: Comparison, *, good: bool) -> str:
    """What is counted at a target: `good` work under an SLO, else that of the axis, `output` or `total`."""
    return "good" if good else axis.bare(compared.y_label).partition(" ")[0]


def cost_head(compared: Comparison, *, good: bool = False) -> str:
    """`cost / M tok`, `cost / M good tok`."""
    return f"cost / M {'good ' if good else ''}{work.many(compared.rate_unit)}"


def money(value: float | None, compared: Comparison, label: str | None = None) -> str:
    """In the currency of all; of side `label` where they differ."""
    if value is None:
        return MISSING
    own = next((each.currency for each in compared.sides if each.label == label), None)
    currency = compared.currency or own
    return f"{quantity.significant(value)} {currency}" if currency else quantity.significant(value)


def ratio(each: Ratio) -> str:
    """`1.34× (95 % 1.21 to 1.50; by the measurements alone 0.84 to 1.63)`."""
    if each.value is None:
        return "no ratio"
    said = [f"95 % {ratio_span(each.low, each.high)}"] if each.low is not None or each.high is not None else ["no interval"]
    if each.least is not None or each.most is not None:
        said.append(f"by the measurements alone {ratio_span(each.least, each.most)}")
    return f"{times(each.value)} ({'; '.join(said)})"


def times(value: float | None) -> str:
    """`1.34×`, `1.003×`."""
    return MISSING if value is None else f"{_digits(value)}×"


def ratio_span(low: float | None, high: float | None) -> str:
    """`0.91 to 1.30`, `at least 0.91`, `at most 1.30`."""
    return quantity.span(low, high, digits=_digits) or MISSING


def _digits(value: float) -> str:
    """As fine above 1 as below: `0.997`, `1.003`, `1.34`."""
    return quantity.significant(value, 4 if 0.9995 <= value < 1.1 else 3)
