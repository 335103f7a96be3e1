"""A history as one self-contained page, and the list of several: no script, nothing from elsewhere, all that is foreign escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep import findings
from sweep.curve.folder import slug
from sweep.curve.nightly.words import change_text, percent, suspect_text, this_night
from sweep.model import History
from sweep.report import nightly, style
from sweep.report.nightly_text import SAID
from sweep.report.page import inline

NIGHTS_LISTED = 60
TONE = {"green": "met", "red": "missed", "yellow": "undecided", "cyan": "undecided"}


@dataclass(frozen=True, slots=True)
class Row:
    """A night in the page's list; `events` are what happened, most nights have none."""

    date: str
    name: str
    verdict: str
    tone: str
    events: tuple[str, ...]


def save(histories: Sequence[History], folder: Path) -> dict[str, Path]:
    """A page and a picture a history, and `index.html` over them: what was written, by kind."""
    written: dict[str, Path] = {}
    names = [_name(history) for history in histories]
    for name, history in zip(names, histories, strict=True):
        written[f"{history.title} page"] = folder / f"{name}.html"
        (folder / f"{name}.html").write_text(render(history), encoding="utf-8")
        if history.nights:
            written[f"{history.title} picture"] = folder / f"{name}.png"
            (folder / f"{name}.png").write_bytes(nightly.png(nightly.timeline_figure(history)))
    written["index"] = folder / "index.html"
    written["index"].write_text(render_index(histories, names), encoding="utf-8")
    return written


def render(history: History) -> str:
    """The page of one history."""
    from markupsafe import Markup

    drawn = [nightly.timeline_figure, nightly.fan_figure, nightly.map_figure] if history.nights else []
    page: str = _template("nightly.html").render(
        history=history,
        verdict=_verdict(history),
        latest=history.judged[-1] if history.judged else None,
        suspects=[suspect_text(one) for one in history.judged[-1].suspects] if history.judged else [],
        notices=[(findings.says(one), findings.advice(one)) for one in history.judged[-1].findings] if history.judged else [],
        pictures=[Markup(inline(nightly.svg(draw(history)))) for draw in drawn],
        changes=[change_text(history, change) for change in reversed(history.changes)],
        metrics=[_metric(history, place) for place in range(len(history.timelines))],
        rows=list(_rows(history)),
        shown=min(nightly.SHOWN, len(history.nights)),
        **_colours(),
    )
    return page


def render_index(histories: Sequence[History], names: Sequence[str]) -> str:
    """The list of histories, each with its verdict and its latest night."""
    entries = [
        {
            "href": f"{name}.html",
            "title": history.title,
            "verdict": _verdict(history),
            "night": history.nights[-1].at[:10] if history.nights else "–",
            "count": len(history.nights),
            "change": change_text(history, history.changes[-1]) if history.changes else "",
        }
        for name, history in zip(names, histories, strict=True)
    ]
    page: str = _template("nightly_index.html").render(entries=entries, **_colours())
    return page


def _name(history: History) -> str:
    return f"nightly-{slug(history.title.replace(' · ', '-'))}"


def _template(name: str) -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("sweep.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def _colours() -> dict[str, str]:
    light = " ".join(f"--{name}: {colour};" for colour, name in style.NAMES.items())
    dark = " ".join(f"--{style.NAMES[role]}: {colour};" for role, colour in style.DARK.items())
    return {"light": light, "dark": dark}


def _verdict(history: History) -> tuple[str, str]:
    said, colour = SAID[history.verdict]
    return said, TONE[colour]


def _metric(history: History, place: int) -> dict[str, str]:
    line = history.timelines[place]
    limit = line.low[-1] if line.more_is_better else line.high[-1]
    return {
        "title": line.title,
        "night": percent(this_night(history, line)),
        "limit": percent(limit),
        "now": percent(line.latest),
        "best": percent(line.best),
        "best_night": history.nights[line.best_night].at[:10] if line.best_night is not None else "",
        "drift": f"since {history.nights[line.drift].at[:10]}" if line.drift is not None else "",
    }


def _rows(history: History) -> Iterator[Row]:
    """The latest nights, newest first. What is pending is told on the night it was first seen."""
    known: set[tuple[str, str | None]] = set()
    rows = []
    for night, judgement in zip(history.nights, history.judged, strict=True):
        figures = {(one.metric, one.cell) for one in judgement.suspects}
        new = [suspect_text(one) for one in judgement.suspects if (one.metric, one.cell) not in known]
        known = figures
        said, colour = SAID[judgement.verdict]
        events = (*new, *(findings.says(one) for one in judgement.findings))
        rows.append(Row(night.at[:16].replace("T", " "), night.name, said, TONE[colour], events))
    yield from reversed(rows[-NIGHTS_LISTED:])
