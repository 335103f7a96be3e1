"""A history as one self-contained page, and the list of several: no script, nothing from elsewhere, all that is foreign escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep import findings
from sweep.curve.folder import slug
from sweep.curve.nightly.words import change_text, drifting, latest_night, percent, suspect_text, this_night, when
from sweep.model import History, NightVerdict
from sweep.report import template
from sweep.report.nightly import drawing
from sweep.report.nightly.fan import fan_figure
from sweep.report.nightly.heatmap import map_figure
from sweep.report.nightly.text import SAID
from sweep.report.nightly.timeline import timeline_figure
from sweep.report.page import inline
from sweep.wording import counted

ROWS_LISTED = 60
TONE = {"green": "met", "red": "missed", "yellow": "undecided", "cyan": "undecided"}


@dataclass(frozen=True, slots=True)
class Row:
    """A night of the page's list, or several in a row about which there is nothing more to say than their verdict."""

    nights: tuple[int, ...]
    verdict: NightVerdict
    events: tuple[str, ...] = ()


def save(histories: Sequence[History], folder: Path) -> dict[str, Path]:
    """A page and a picture a history, and `index.html` over them: what was written, by kind."""
    written: dict[str, Path] = {}
    names = [_name(history) for history in histories]
    for name, history in zip(names, histories, strict=True):
        written[f"{history.title} page"] = folder / f"{name}.html"
        (folder / f"{name}.html").write_text(render(history), encoding="utf-8")
        if history.nights:
            written[f"{history.title} picture"] = folder / f"{name}.png"
            (folder / f"{name}.png").write_bytes(drawing.png(timeline_figure(history)))
    written["index"] = folder / "index.html"
    written["index"].write_text(render_index(histories, names), encoding="utf-8")
    return written


def render(history: History) -> str:
    """The page of one history."""
    from markupsafe import Markup

    drawn = [timeline_figure, fan_figure, map_figure] if history.nights else []
    page: str = (
        template.environment()
        .get_template("nightly.html")
        .render(
            history=history,
            verdict=_verdict(history.verdict),
            headline=latest_night(history) if history.judged else "",
            suspects=[suspect_text(one) for one in history.judged[-1].suspects] if history.judged else [],
            notices=[(findings.says(one), findings.advice(one)) for one in history.judged[-1].findings]
            if history.judged
            else [],
            pictures=[Markup(inline(drawing.svg(draw(history)))) for draw in drawn],
            changes=[change_text(history, change) for change in reversed(history.changes)],
            metrics=[_metric(history, place) for place in range(len(history.timelines))],
            rows=[_shown(history, row) for row in _rows(history)],
            shown=counted(min(drawing.SHOWN, len(history.nights)), "night"),
            light=template.light(),
            dark=template.dark(),
        )
    )
    return page


def render_index(histories: Sequence[History], names: Sequence[str]) -> str:
    """The list of histories, each with its verdict and its latest night."""
    entries = [
        {
            "href": f"{name}.html",
            "title": history.title,
            "verdict": _verdict(history.verdict),
            "night": latest_night(history) if history.judged else "",
            "change": change_text(history, history.changes[-1]) if history.changes else "",
        }
        for name, history in zip(names, histories, strict=True)
    ]
    page: str = (
        template.environment()
        .get_template("nightly_index.html")
        .render(entries=entries, light=template.light(), dark=template.dark())
    )
    return page


def _name(history: History) -> str:
    return f"nightly-{slug(history.title.replace(' · ', '-'))}"


def _verdict(verdict: NightVerdict) -> tuple[str, str]:
    said, colour = SAID[verdict]
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
        "best_night": when(history, line.best_night) if line.best_night is not None else "",
        "drift": drifting(history, line),
    }


def _rows(history: History) -> Iterator[Row]:
    """The latest nights, newest first."""
    rows: list[Row] = []
    for place, (judgement, events) in enumerate(zip(history.judged, _events(history), strict=True)):
        before = rows[-1] if rows else None
        if before and not events and not before.events and before.verdict == judgement.verdict:
            rows[-1] = Row((*before.nights, place), judgement.verdict)
        else:
            rows.append(Row((place,), judgement.verdict, events))
    return reversed(rows[-ROWS_LISTED:])


def _events(history: History) -> Iterator[tuple[str, ...]]:
    """What happened in each night; most have nothing. What is pending is told on the night it was first seen."""
    known: set[tuple[str, str | None]] = set()
    for judgement in history.judged:
        new = [suspect_text(one) for one in judgement.suspects if (one.metric, one.cell) not in known]
        known = {(one.metric, one.cell) for one in judgement.suspects}
        yield (*new, *(findings.says(one) for one in judgement.findings))


def _shown(history: History, row: Row) -> dict[str, Any]:
    said, tone = _verdict(row.verdict)
    first, last = row.nights[0], row.nights[-1]
    return {
        "nights": [when(history, place) for place in dict.fromkeys((first, last))],
        "verdict": said,
        "tone": tone,
        "events": "; ".join(row.events) if first == last else f"{len(row.nights)} nights",
        "name": history.nights[last].name if first == last else "",
    }
