"""Curves as one self-contained page: no font, no picture, no script from elsewhere; everything foreign is escaped.

`sweep run` writes it for one curve, `sweep compare` for several. Its script is the page's own (assets/), allowed by its hash;
without it, figure and tables still say everything but the reader's own SLO.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sweep.curve import artifact
from sweep.curve.compare import sides
from sweep.curve.compare.nouns import Comparison, Served, Target
from sweep.model import Curve, Slo
from sweep.report import facts, figure, quantity, style, template, words, work
from sweep.report.compare import advice, evidence, glance, names, outlays, overlay, plot, questions, tables
from sweep.report.compare import words as answers
from sweep.report.foreign import harmless
from sweep.report.table import columns, rows

ASSETS = Path(__file__).with_name("assets")
SCRIPTS = ("decode.js", "pick.js", "labels.js", "chart.js", "state.js", "prices.js", "view.js", "slo.js", "page.js")


def save(curve: Curve, path: Path) -> None:
    """Raises OSError."""
    path.write_text(render(curve), encoding="utf-8")


def save_comparison(compared: Comparison, curves: Sequence[Curve], path: Path) -> None:
    """Raises OSError."""
    path.write_text(render_comparison(compared, curves), encoding="utf-8")


def render(curve: Curve) -> str:
    """The page of one curve, as HTML."""
    plain = harmless(curve)
    picture = figure.svg_text(plain)
    return _page({"A": curve}, None, plain.slos, None, picture, title=f"{plain.endpoint.model} · {plain.profile.name}")


def render_comparison(compared: Comparison, curves: Sequence[Curve]) -> str:
    """The page of several curves, as HTML."""
    plain = harmless(compared)
    labelled = {side.label: curve for side, curve in zip(compared.sides, curves, strict=True)}
    slos = [each.target.slo for each in plain.answers if each.target.slo is not None]
    picture = overlay.svg_text(compared, curves)
    title = f"Comparison: {' · '.join(names.side(side) for side in plain.sides)}"
    return _page(labelled, plain, slos, plain.axis, picture, title=title)


def _page(
    labelled: Mapping[str, Curve],
    compared: Comparison | None,
    slos: Sequence[Slo],
    axis: str | None,
    picture: str,
    *,
    title: str,
) -> str:
    from markupsafe import Markup

    environment = template.environment()
    environment.globals["data"] = lambda text: Markup(safe_in_script(text))
    environment.filters["flags"] = lambda text: Markup(with_flags(text))
    environment.filters["unbroken"] = unbroken
    shown_curves = {label: harmless(curve) for label, curve in labelled.items()}
    document = plot.shown(shown_curves, axis, slos)
    code = script()
    filled = [_side(each, shown_curves[each["label"]], compared) for each in document["sides"]]
    return environment.get_template("page.html").render(
        title=title,
        picture=Markup(inline(picture)),
        light=template.light(),
        dark=template.dark(),
        light_sides=_side_variables(0),
        dark_sides=_side_variables(1),
        side_places=range(len(labelled)),
        script=Markup(code),
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        shown=json_text(document),
        axes=plot.titles(document),
        axis=document["axis"],
        presets=[quantity.slo_title(slo) for slo in slos],
        sides=filled,
        work=work.many(document["rate_unit"]),
        one=work.one(document["rate_unit"]),
        powered=any(side["powered"] for side in filled),
        files={label: artifact.to_json(curve).decode() for label, curve in labelled.items()},
        curves=[_told(label, curve) for label, curve in shown_curves.items()],
        compared=_compared(compared, list(shown_curves.values())) if compared else None,
    )


def script() -> str:
    """The page's own code: one closed function, so that nothing of it is global."""
    body = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def safe_in_script(json_text: str) -> str:
    """JSON that no text inside can end, whatever it says; it reads back as the same document."""
    return json_text.replace("<", "\\u003c")


def with_flags(text: str) -> str:
    """Text as HTML, what one types in a shell set apart and kept on its line: `--grid 6,11`."""
    from markupsafe import escape

    return re.sub(r"(?<![\w-])--[a-z][a-z-]*(?: [\w.]*[\d=][\w.,=]*(?<![.,]))?", r"<code>\g<0></code>", str(escape(text)))


def unbroken(text: str) -> str:
    """An interval, and a number with its unit, stay on one line."""
    return re.sub(r"(?<=\d) (?=to \d|%|[A-Z]{3}\b)|(?<=\d to) (?=\d)", "\u00a0", text)


def json_text(document: Any) -> str:
    return msgspec.json.encode(document, order="sorted").decode()


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


def _side_variables(mode: int) -> str:
    return " ".join(f"--side-{place}: {colours[mode]};" for place, colours in enumerate(overlay.SIDES))


def _side(each: Mapping[str, Any], curve: Curve, compared: Comparison | None) -> dict[str, Any]:
    """A side with what its fields for prices and power begin with. An empty power leaves it to what was measured."""
    given = compared.sides if compared else sides.sides({"A": curve}, sides.Given())
    side = next(side for side in given if side.label == each["label"])
    hour, token = side.price_per_accelerator_hour, side.price_per_million_output_tokens
    metered = any(point.energy_j for point in curve.points)
    power = side.power_w_per_accelerator if side.power_given or not metered else None
    return {
        **each,
        "count": _field(side.accelerators),
        "price": _field(token if token is not None else hour),
        "by_token": token is not None,
        "currency": side.currency or "",
        "power": _field(power),
        "metered": metered,
        "powered": metered or power is not None,
    }


def _field(value: float | None) -> str:
    """As one would type it."""
    return "" if value is None else f"{value:.10g}"


def _told(label: str, curve: Curve) -> dict[str, Any]:
    """What the page says of one curve."""
    made = rows(curve)
    return {
        "label": label,
        "curve": curve,
        "sentences": words.sentences(curve),
        "notices": words.notices(curve),
        "columns": columns(curve),
        "rows": made,
        "slos": [(quantity.slo_title(slo), facts.slo_rows(made, slo.name)) for slo in curve.slos],
        "questions": [(name, facts.facts(found)) for name, found in facts.answers(curve).items()],
        "cells": [facts.measured(row.point) for row in made],
    }


def _compared(compared: Comparison, curves: Sequence[Curve]) -> dict[str, Any]:
    """What the page says of all together; costs and energies beside the targets as numbers too, since prices may change."""
    spent = {each.target.name: [_spent(each.target, served, compared) for served in each.served] for each in compared.answers}
    found = [
        tables.sides(compared),
        tables.verdicts(compared),
        tables.loads(compared),
        tables.gains(compared),
        outlays.costs(compared),
    ]
    return {
        "answer": answers.answer(compared),
        "glance": glance.rows(compared),
        "glance_head": glance.head(compared),
        "decides": answers.decisive(compared),
        "unfair": advice.unfair(compared),
        "caveats": advice.caveats(compared),
        "gains": [evidence.gain(compared, each) for each in compared.gains],
        "surer": advice.surer(compared),
        "spent": list(spent.values()),
        "targets": [
            (table, [one for each in under for one in spent[each.target.name]], "good " if good else "")
            for table, (good, under) in zip(tables.targets(compared, priced=False), tables.by_kind(compared), strict=True)
        ],
        "tables": [table for table in found if table is not None and table.rows],
        "questions": [table for table in questions.questions(curves, compared) if table.rows],
        "json": json_text(artifact.plain(compared)),
    }


def _spent(target: Target, served: Served, compared: Comparison) -> dict[str, Any]:
    """What a delivery takes, in words and as what the page's script makes it of."""
    cost, energy = served.cost_per_million, served.energy
    return {
        "label": served.label,
        "tok": served.tok_per_s.value,
        "share": served.attainment if target.slo is not None else None,
        "cost": names.money(cost.value if cost else None, compared, served.label),
        "joules": quantity.significant(energy.per_token_j.value if energy else None),
        "known": energy.known if energy else "",
        "watts": energy.power_w if energy and energy.known == "measured" else None,
    }
