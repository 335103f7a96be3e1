"""A curve on a terminal of 80 columns, as rich renderables. Whatever came from outside is shown as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.model import Curve, Endpoint, Expected, Plan, Profile
from sweep.report import quantity, words
from sweep.report.foreign import harmless
from sweep.report.quantity import MISSING
from sweep.report.sketch import sketch
from sweep.report.table import AGAIN, FEW, GONE, MARKS, columns, rows, slo_cell, slo_result

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from sweep.report.fitted import Fitted

SLOS_A_TABLE = 3
SPARE = ("E2E", "TTFT p50", "TPOT p50", "user", "failed %", "refused")  # columns that a narrow window goes without first
LINES_A_NOTICE = 2
COLOURS = {"disqualifies": "red", "warning": "yellow", "note": "cyan"}


def plan_lines(plan: Plan, endpoint: Endpoint, expected: Expected) -> list[str]:
    """The plan in a few lines, before anything is sent."""
    levels = "doubling from 1 until throughput stops rising"
    if plan.grid is not None:
        levels = ", ".join(f"{level:g}" for level in plan.grid)
    kind = "concurrency" if plan.kind == "closed" else f"{plan.kind} arrivals, requests/s"
    repeats = f", each {plan.repeats} times" if plan.repeats > 1 else ""
    amount = f"{quantity.things(expected.cells, 'cell')}, {quantity.things(expected.requests, 'request')}"
    work = "" if endpoint.unit == "tokens" else f"{endpoint.unit} "
    tokens = f"{quantity.count(expected.input_tokens)} tokens in, {quantity.count(expected.output_tokens)} {work}out"
    lines = [
        f"profile    {plan.profile.name}: {plan.profile.title}",
        f"endpoint   {endpoint.model} at {endpoint.url}",
        f"load       {kind}: {levels}{repeats}",
        f"about      {amount}, {tokens}, {quantity.duration(expected.seconds)}",
    ]
    if endpoint.takes_ids:
        lines.append("prompts    exact: token ids")
    lines += [f"SLO        {quantity.slo_title(slo)}" for slo in plan.slos]
    asked = len(plan.grid or ()) * plan.repeats
    if plan.budget_s is not None and expected.cells < asked:
        lines.append(f"budget     {quantity.duration(plan.budget_s)} hold no more than {expected.cells} of the {asked} cells")
    return lines + list(_buys(plan, expected))


def _buys(plan: Plan, expected: Expected) -> Iterator[str]:
    """What the time buys, and what the tails would cost."""
    gates = [f"{gate.label} ±{gate.width:.0%}" for gate in plan.limits.gates]
    if gates:
        yield f"known to   {', '.join(gates)}"
    wanted = any(gate.quantile is not None and gate.quantile > 0.5 for gate in plan.limits.gates)
    if not wanted and expected.tail_seconds and plan.limits.duration_s is None:
        yield f"p99        5,000 requests at every load would take {quantity.duration(expected.tail_seconds)} more"


def result(
    curve: Curve, paths: Mapping[str, Path] | None = None, *, columns: int = 80, plain: bool = False
) -> Iterator[RenderableType]:
    """Everything a person wants to see of a finished curve, piece by piece, in a window of so many columns."""
    from rich.text import Text

    curve = harmless(curve)
    yield _heading(curve)
    if curve.points:
        yield points_table(curve)
        yield Text()
        yield from slo_tables(curve)
        picture = sketch(curve, columns=columns, plain=plain)
        if picture:
            yield Text("\n".join(picture) + "\n", style="default", no_wrap=True)
    yield _sentences(curve)
    yield Text()
    yield from _notices(curve)
    if paths:
        yield file_lines(paths)


def show(console: Console, curve: Curve, paths: Mapping[str, Path] | None = None) -> None:
    plain = not (console.encoding or "").lower().startswith("utf")
    for piece in result(curve, paths, columns=console.width, plain=plain):
        console.print(piece)


def _heading(curve: Curve) -> Text:
    from rich.text import Text

    made = Text()
    made.append(curve.endpoint.model, style="bold").append(f"  ·  profile {curve.profile.name}  ·  {curve.endpoint.url}")
    if not curve.complete:
        made.append("  ·  partial", style="yellow")
    return made.append("\n")


def points_table(curve: Curve) -> Fitted:
    """One row a point: load, throughput, latencies, failures; `~` few requests, `✗` disqualified."""
    from rich.text import Text

    from sweep.report.fitted import Fitted

    shown = columns(curve)
    table = Fitted(SPARE)
    for column in shown:
        table.add_column(Text(f"{column.head}\n{column.unit}"), justify="right")
    table.add_column("")
    marked: set[str] = set()
    for row in rows(curve):
        gone = row.point.disqualified
        cells = [Text(cell.text, style="dim" if cell.few or gone else "") for cell in row.cells]
        table.add_row(*cells, Text(GONE if gone else "", style="red"))
        marked |= {GONE} if gone else set()
        marked |= {FEW} if any(cell.few for cell in row.cells) else set()
        marked |= {AGAIN} if row.point.repeat else set()
    meanings = {
        AGAIN: f"{AGAIN} measured again",
        FEW: f"{FEW} too few requests to decide anything",
        GONE: f"{GONE} disqualified",
    }
    if marked:
        table.caption = Text("   ".join(text for mark, text in meanings.items() if mark in marked), style="dim")
    return table


def profile_table(means: Sequence[tuple[Profile, float, float, str]]) -> Fitted:
    """Profiles with their mean input tokens and their mean output, in its unit."""
    from rich.text import Text

    from sweep.report.fitted import Fitted

    table = Fitted(("ISL", "OSL"))
    for head in ("profile", "ISL", "OSL", "what it is"):
        table.add_column(head, justify="right" if head.endswith("SL") else "left", prose=head == "what it is")
    for profile, isl, osl, unit in means:
        output = f"{osl:,.0f}" + ("" if unit == "tokens" else f" {unit}")
        table.add_row(Text(profile.name, style="bold"), f"{isl:,.0f}" if isl else MISSING, output, Text(profile.title))
    return table


def slo_tables(curve: Curve) -> Iterator[RenderableType]:
    """Verdict, attainment and goodput of each SLO at each load, a few SLOs a table, their bounds below."""
    from rich.text import Text

    from sweep.report.fitted import Fitted

    for start in range(0, len(curve.slos), SLOS_A_TABLE):
        slos = curve.slos[start : start + SLOS_A_TABLE]
        table = Fitted()
        table.add_column("load", justify="right")
        for index in range(len(slos)):
            table.add_column(f"SLO {start + index + 1}")
        for row in rows(curve):
            cells = [slo_cell(slo_result(row.point, slo.name)) for slo in slos]
            table.add_row(row.cells[0].text, *(Text(cell.text, style=_verdict_style(cell.text)) for cell in cells))
        yield table
        lines = [f"SLO {start + index + 1}  {quantity.slo_title(slo)}" for index, slo in enumerate(slos)]
        yield Text("\n".join([*lines, "share of requests within it, goodput in requests/s", ""]), style="dim")


def _verdict_style(text: str) -> str:
    return {MARKS["met"]: "green", MARKS["missed"]: "red"}.get(text[0], "yellow") if text != MISSING else ""


def _notices(curve: Curve) -> Iterator[RenderableType]:
    from rich.text import Text

    found = words.notices(curve)
    if found:
        grid = _grid()
        for notice in found:
            style = COLOURS[notice.weight]
            for index, line in enumerate(notice.lines(LINES_A_NOTICE)):
                grid.add_row(Text(_WEIGHT[notice.weight] if not index else "", style=style), Text(line))
            if notice.advice:
                grid.add_row("", Text(notice.advice, style="dim"))
        yield grid
        yield Text()


def _sentences(curve: Curve) -> RenderableType:
    from rich.text import Text

    grid = _grid()
    for sentence in words.sentences(curve):
        grid.add_row(Text("•", style="bold"), Text(sentence))
    return grid


def _grid() -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    return grid


_WEIGHT = {"disqualifies": "disqualified", "warning": "warning", "note": "note"}


def file_lines(paths: Mapping[str, Path]) -> Text:
    """Where the files are: the folder once, then their names."""
    from rich.text import Text

    folders = {path.parent for path in paths.values()}
    if len(folders) != 1:
        return Text("\n".join(str(path) for path in paths.values()))
    (folder,) = folders
    return Text(f"{folder}/\n", style="bold").append(_columns([path.name for path in paths.values()]))


def _columns(names: Sequence[str]) -> str:
    return "\n".join(f"  {name}" for name in names)
