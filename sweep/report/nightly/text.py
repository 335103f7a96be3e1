"""Nightly judgements on a terminal of 80 columns. Text from files is shown as text, never as markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from sweep import findings
from sweep.curve.nightly.words import change_text, drifting, latest_night, percent, suspect_text, this_night
from sweep.model import History, NightVerdict
from sweep.wording import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from sweep.report.fitted import Fitted

SAID: dict[NightVerdict, tuple[str, str]] = {
    "ok": ("no change", "green"),
    "improved": ("improved", "green"),
    "learning": ("learning", "cyan"),
    "suspected": ("suspected", "yellow"),
    "regressed": ("regressed", "red"),
    "unjudged": ("cannot be judged", "red"),
}
CHANGES_SHOWN, ASIDE_SHOWN = 5, 5


def show(console: Console, histories: Sequence[History]) -> None:
    for piece in (*chain.from_iterable(map(lines, histories)), *_set_aside(histories)):
        console.print(piece)


def lines(history: History) -> Iterator[RenderableType]:
    from rich.text import Text

    said, colour = SAID[history.verdict]
    yield Text.assemble((said, f"bold {colour}"), "  ", (history.title, "bold"))
    if history.unfair:
        yield Text(f"the latest curve cannot be compared: {history.unfair}")
    if history.judged:
        latest = history.judged[-1]
        yield Text(latest_night(history), "dim")
        for suspect in latest.suspects:
            yield Text(f"  {suspect_text(suspect)}   p = {suspect.p:.1g}")
        for finding in latest.findings:
            yield Text(f"  {findings.weight(finding)}: {findings.says(finding)}")
            yield Text(f"  {findings.advice(finding)}", "dim")
        yield Text()
        yield _metrics(history)
    if history.changes:
        yield Text()
    for change in reversed(history.changes[-CHANGES_SHOWN:]):
        yield Text(change_text(history, change))
    yield Text()


def _set_aside(histories: Sequence[History]) -> Iterator[RenderableType]:
    """Files that are in no history, each once: what is no curve was set aside for all."""
    from rich.text import Text

    files = list(dict.fromkeys(each for history in histories for each in history.set_aside))
    for each in files[:ASIDE_SHOWN]:
        yield Text(f"set aside: {each.file}: {each.reason}", "dim")
    if len(files) > ASIDE_SHOWN:
        yield Text(f"set aside: {counted(len(files) - ASIDE_SHOWN, 'more file')}; --json lists all", "dim")


def _metrics(history: History) -> Fitted:
    from sweep.report.fitted import Fitted

    table = Fitted(("best", "level", "drift"), padding=2)
    table.add_column("metric")
    for head in ("this night", "alarm beyond", "level now", "best ever"):
        table.add_column(head, justify="right")
    table.add_column("drift")
    for line in history.timelines:
        limit = line.low[-1] if line.more_is_better else line.high[-1]
        known = (this_night(history, line), limit, line.latest, line.best)
        table.add_row(line.title, *map(percent, known), drifting(history, line))
    return table
