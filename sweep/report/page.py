"""A curve as one self-contained page: no script, no font, no picture from elsewhere; everything foreign is escaped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sweep.model import Curve, Fact, Point
from sweep.report import figure, quantity, style, words
from sweep.report.foreign import harmless
from sweep.report.table import COLUMNS, Row, rows, slo_cell, slo_result

QUESTIONS = ("scenario", "constraint", "software", "hardware", "client", "price")
UNSTATED = "not stated"


def render(curve: Curve) -> str:
    """The page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    curve = harmless(curve)
    environment = Environment(
        loader=PackageLoader("sweep.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    shown = rows(curve)
    return environment.get_template("page.html").render(
        curve=curve,
        picture=Markup(inline(figure.svg_text(curve))),
        light=_variables({colour: colour for colour in style.NAMES}),
        dark=_variables(style.DARK),
        sentences=words.sentences(curve),
        notices=words.notices(curve),
        columns=COLUMNS,
        rows=shown,
        slos=[(quantity.slo_title(slo), _slo_rows(shown, slo.name)) for slo in curve.slos],
        questions=[(name, _facts(facts)) for name, facts in _answers(curve).items()],
        cells=[_measured(row.point) for row in shown],
    )


def save(curve: Curve, path: Path) -> None:
    path.write_text(render(curve), encoding="utf-8")


def inline(svg: str) -> str:
    """An SVG document as an element of a page: no prolog, the page's font and, by name, the page's colours."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", element, count=1)
    element = element.replace(f"'{style.FONT}'", "system-ui, sans-serif")
    for colour, name in style.NAMES.items():
        element = element.replace(colour, f"var(--{name})")
    return element


def _variables(colours: Any) -> str:
    return " ".join(f"--{style.NAMES[role]}: {colour};" for role, colour in colours.items())


def _slo_rows(shown: list[Row], name: str) -> list[dict[str, str]]:
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


def _answers(curve: Curve) -> dict[str, dict[str, Fact]]:
    """The stored answers by question, the SLOs in words."""
    answers: dict[str, dict[str, Fact]] = {name: dict(getattr(curve, name)) for name in QUESTIONS}
    if curve.slos:
        titles = "; ".join(quantity.slo_title(slo) for slo in curve.slos)
        answers["constraint"]["slos"] = Fact(value=titles, known="declared")
    return answers


def _facts(facts: dict[str, Fact]) -> list[tuple[str, str, str]]:
    """Name, answer and how it is known; what nobody said comes last."""
    made = [(*named(name, fact.value), fact.known) for name, fact in facts.items()]
    return sorted(made, key=lambda each: each[2] == "missing")


def named(name: str, value: Any) -> tuple[str, str]:
    """A stored name and answer for people: `rtt_s`, 0.0002 becomes `rtt`, `200 µs`."""
    if name.endswith("_s") and isinstance(value, int | float):
        return name.removesuffix("_s").replace("_", " "), quantity.seconds(value)
    return name.replace("_", " "), fact_text(value)


def fact_text(value: Any) -> str:
    """A stored answer for people."""
    if value is None:
        return UNSTATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {fact_text(part)}" for key, part in value.items() if part is not None) or UNSTATED
    if isinstance(value, list | tuple):
        return ", ".join(fact_text(part) for part in value) or "none"
    return str(value)


def _measured(point: Point) -> dict[str, str]:
    """How a point came to be: its window and the reasons for it, its requests, its realised lengths."""
    window = point.window
    return {
        "load": quantity.level(point.load) + (f"·{point.repeat + 1}" if point.repeat else ""),
        "window": quantity.duration(window.seconds) if window else quantity.MISSING,
        "begin": window.begin_reason if window else quantity.MISSING,
        "end": window.end_reason if window else quantity.MISSING,
        "requests": f"{point.cohort:,}",
        "isl": quantity.significant(point.isl.mean, 4),
        "osl": quantity.significant(point.osl.mean, 4),
        "outcomes": ", ".join(f"{outcome} {number:,}" for outcome, number in sorted(point.outcomes.items()) if number),
        "stamps": point.health.stamp_source if point.health else quantity.MISSING,
    }
