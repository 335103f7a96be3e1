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
from sweep.curve.compare.nouns import Comparison
from sweep.curve.cost import accelerators, stated
from sweep.model import Curve, Slo
from sweep.report import facts, figure, quantity, style, words
from sweep.report.compare import advice, names, outlays, overlay, plot, questions, tables
from sweep.report.compare import words as evidence
from sweep.report.foreign import harmless
from sweep.report.table import columns, rows

ASSETS = Path(__file__).with_name("assets")
SCRIPTS = ("decode.js", "pick.js", "labels.js", "chart.js", "page.js")


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
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("sweep.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["data"] = lambda text: Markup(safe_in_script(text))
    shown_curves = {label: harmless(curve) for label, curve in labelled.items()}
    document = plot.shown(shown_curves, axis, slos)
    code = script()
    return environment.get_template("page.html").render(
        title=title,
        picture=Markup(inline(picture)),
        light=_variables({colour: colour for colour in style.NAMES}),
        dark=_variables(style.DARK),
        light_sides=_side_variables(0),
        dark_sides=_side_variables(1),
        side_places=range(len(labelled)),
        script=Markup(code),
        script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        shown=json_text(document),
        axes=plot.titles(document),
        axis=document["axis"],
        presets=[quantity.slo_title(slo) for slo in slos],
        sides=[_side(each, shown_curves[each["label"]], compared) for each in document["sides"]],
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


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{style.NAMES[role]}: {colour};" for role, colour in colours.items())


def _side_variables(mode: int) -> str:
    return " ".join(f"--side-{place}: {colours[mode]};" for place, colours in enumerate(overlay.SIDES))


def _side(each: Mapping[str, Any], curve: Curve, compared: Comparison | None) -> dict[str, Any]:
    """A side with the prices its fields begin with."""
    found = {side.label: side for side in compared.sides} if compared else {}
    side = found.get(each["label"])
    price = stated(curve)
    hour = side.price_per_accelerator_hour if side else price.per_accelerator_hour
    token = side.price_per_million_output_tokens if side else price.per_million_output_tokens
    return {
        **each,
        "count": side.accelerators if side else accelerators(curve),
        "price": token if token is not None else hour,
        "by_token": token is not None,
        "currency": (side.currency if side else price.currency) or "",
    }


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
    """What the page says of all together; `targets` once more as numbers, since prices may change."""
    priced = [(each.target, served) for each in compared.answers for served in each.served]
    found = [
        tables.sides(compared),
        tables.verdicts(compared),
        tables.loads(compared),
        tables.gains(compared),
        outlays.costs(compared),
    ]
    return {
        "answer": evidence.answer(compared),
        "unfair": advice.unfair(compared),
        "caveats": advice.caveats(compared),
        "evidence": evidence.evidence(compared),
        "surer": advice.surer(compared),
        "targets": tables.targets(compared, priced=False),
        "costs": [(served.label, served.tok_per_s, served.attainment if target.slo else None) for target, served in priced],
        "tables": [table for table in found if table is not None and table.rows],
        "questions": [table for table in questions.questions(curves, compared) if table.rows],
        "json": json_text(artifact.plain(compared)),
    }
