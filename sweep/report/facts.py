"""What a curve file says of itself, as rows of words: SLO results, the stored answers, how each point came to be."""

from __future__ import annotations

from typing import Any

from sweep.model import Curve, Fact, Point
from sweep.report import quantity
from sweep.report.table import Row, slo_cell, slo_result

QUESTIONS = ("scenario", "constraint", "software", "hardware", "client", "price")
UNSTATED = "not stated"


def slo_rows(shown: list[Row], name: str) -> list[dict[str, str]]:
    """Load, verdict with attainment, and goodput of one SLO at each load."""
    made = []
    for row in shown:
        found = slo_result(row.point, name)
        if found is not None:
            made.append(
                {
                    "load": row.cells[0].text,
                    "verdict": found.verdict,
                    "share": slo_cell(found).text.rsplit(" ", 1)[0],
                    "good": f"{found.good:,} of {found.cohort:,}",
                    "requests": quantity.significant(found.goodput_req_per_s.value),
                    "tokens": quantity.significant(found.goodput_tok_per_s.value),
                }
            )
    return made


def answers(curve: Curve) -> dict[str, dict[str, Fact]]:
    """The stored answers by question, the SLOs in words."""
    found: dict[str, dict[str, Fact]] = {name: dict(getattr(curve, name)) for name in QUESTIONS}
    if curve.slos:
        titles = "; ".join(quantity.slo_title(slo) for slo in curve.slos)
        found["constraint"]["slos"] = Fact(value=titles, known="declared")
    return found


def facts(facts: dict[str, Fact]) -> list[tuple[str, str, str]]:
    """Name, answer and how it is known; what nobody said comes last."""
    made = [(*named(name, fact.value), fact.known) for name, fact in facts.items()]
    return sorted(made, key=lambda each: each[2] == "missing")


def named(name: str, value: Any) -> tuple[str, str]:
    """A stored name and answer for people: `rtt_s`, 0.0002 becomes `rtt`, `200 µs`; `power_w`, 700 becomes `power`, `700 W`."""
    if isinstance(value, int | float) and name.endswith("_s"):
        return name.removesuffix("_s").replace("_", " "), quantity.seconds(value)
    if isinstance(value, int | float) and name.endswith("_w"):
        return name.removesuffix("_w").replace("_", " "), quantity.watts(value)
    return name.replace("_", " "), fact_text(value)


def fact_text(value: Any) -> str:
    """A stored answer for people."""
    if value is None:
        return UNSTATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if _counted(value):
        return f"{fact_text(value['count'])}× {fact_text(value['name'])}"
    if isinstance(value, list) and value and all(map(_counted, value)):
        return " + ".join(map(fact_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {fact_text(part)}" for key, part in value.items() if part is not None) or UNSTATED
    if isinstance(value, list | tuple):
        return ", ".join(fact_text(part) for part in value) or "none"
    return str(value)


def _counted(value: Any) -> bool:
    """`{"count": 8, "name": "H200"}`."""
    return isinstance(value, dict) and set(value) == {"count", "name"}


def measured(point: Point) -> dict[str, str]:
    """How a point came to be: its window and the reasons for it, its requests, its realised lengths."""
    window = point.window
    return {
        "load": quantity.cell(point),
        "window": quantity.duration(window.seconds) if window else quantity.MISSING,
        "begin": window.begin_reason if window else quantity.MISSING,
        "end": window.end_reason if window else quantity.MISSING,
        "requests": f"{point.cohort:,}",
        "isl": quantity.significant(point.isl.mean, 4),
        "osl": quantity.significant(point.osl.mean, 4),
        "outcomes": ", ".join(f"{outcome} {number:,}" for outcome, number in sorted(point.outcomes.items()) if number),
        "stamps": point.health.stamp_source if point.health else quantity.MISSING,
    }
