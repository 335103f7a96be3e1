"""Nightly judgements as Markdown, for a GitHub step summary. Text from files is escaped: it may come from a server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sweep import findings
from sweep.curve.nightly.words import change_text, drifting, latest_night, percent, suspect_text, this_night
from sweep.model import History, NightVerdict
from sweep.wording import counted

SIGNS: dict[NightVerdict, str] = {
    "ok": "✅ no change",
    "improved": "✅ improved",
    "learning": "🕒 learning",
    "suspected": "⚠️ suspected",
    "regressed": "❌ regressed",
    "unjudged": "⛔ cannot be judged",
}


def markdown(histories: Sequence[History]) -> str:
    return "\n\n".join("\n".join(_section(history)) for history in histories) + "\n"


def _section(history: History) -> Iterator[str]:
    yield f"### {SIGNS[history.verdict]}: {_escaped(history.title)}"
    yield ""
    if history.unfair:
        yield f"The latest curve cannot be compared: {_escaped(history.unfair)}."
    if not history.judged:
        return
    latest = history.judged[-1]
    yield f"{latest_night(history).capitalize()}."
    yield ""
    for suspect in latest.suspects:
        yield f"- {_escaped(suspect_text(suspect))} (p = {suspect.p:.1g})"
    for finding in latest.findings:
        yield f"- {_escaped(findings.says(finding))}"
    yield ""
    yield "| metric | this night | level now | best ever | drift |"
    yield "|---|---:|---:|---:|---|"
    for line in history.timelines:
        cells = (percent(this_night(history, line)), percent(line.latest), percent(line.best))
        yield f"| {_escaped(line.title)} | {' | '.join(cells)} | {drifting(history, line)} |"
    yield ""
    for change in reversed(history.changes[-5:]):
        yield f"- {_escaped(change_text(history, change))}"
    if history.set_aside:
        yield f"- set aside: {counted(len(history.set_aside), 'file')}"


def _escaped(text: str) -> str:
    """Nothing of Markdown or HTML is left to act."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", plain)
