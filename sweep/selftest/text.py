"""A self-test on a terminal of 80 columns: a table, and in words what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sweep.report.quantity import MISSING, seconds, significant
from sweep.selftest.nouns import LoadResult, Selftest, Spread
from sweep.wording import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from sweep.report.fitted import Fitted

EVEN = 0.00005  # below it a relative error shows as 0.00 %


def show(console: Console, result: Selftest) -> None:
    for piece in pieces(result):
        console.print(piece)


def pieces(result: Selftest) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    yield Text("Our client against simulated endpoints whose true times are known.")
    yield Text(f"{_machine(result)}\n", "dim")
    yield _table(result)
    yield Text()
    said = Table.grid(padding=(0, 2, 0, 0))
    for sentence in sentences(result):
        said.add_row(Text("•"), Text(sentence))
    yield said
    yield Text()
    yield Text("Fit to measure on this machine." if result.fit else "Not fit to measure on this machine.", "bold")


def _machine(result: Selftest) -> str:
    """What was tested where, for whoever is sent this."""
    tool, client = result.tool, result.client
    cores = client.get("cores")
    parts = [f"sweep {tool.version}", f"Python {tool.python}", client.get("kernel"), counted(cores, "core") if cores else None]
    took = f"{result.seconds:.0f} s" + (", light loads only" if result.quick else "")
    return ", ".join(str(part) for part in parts if part) + f"; {took}"


def sentences(result: Selftest) -> Iterator[str]:
    """What the table means, the most important first."""
    yield _reach(result)
    loads = [load for preset in result.presets for load in preset.loads]
    yield (
        "Errors of stamps are counted from just before the endpoint's send, so they hold that send. Beyond it our stamps were"
        f" late by {seconds(_most((load.beyond_s for load in loads), 'p99'))} (p99 of the worst load),"
        f" {seconds(_most(load.beyond_s for load in loads))} at most."
    )
    yield from _frontier(result)
    for load in loads:
        yield from _broken(load)
    late = [load.server_late_s for load in loads]
    yield (
        f"The endpoint's own sends came {seconds(_most(late, 'p50'))} late at its worst load (p50), {seconds(_most(late))} at"
        " most. That is not charged to the client."
    )
    cores = result.client.get("cores")
    yield f"Client and endpoint shared {'a single core' if cores == 1 else f'{cores} cores'}; an endpoint elsewhere leaves the client more."
    own = "user" in {load.stamps for load in loads}
    yield (
        "This system gives no kernel time stamps: the client's own are taken, which are later."
        if own
        else ("Stamps are the kernel's: how busy the client is does not move them.")
    )


def _reach(result: Selftest) -> str:
    share = f"{100 * result.tolerance:g} %"
    if result.exact_tok_per_s is None:
        return f"Not even the lightest load was exact to {share}. Something else may keep this machine busy; try again when it is idle."
    reach = f"{significant(result.exact_tok_per_s)} tokens a second ({counted(result.exact_streams or 0, 'stream')})"
    if result.exact_to_the_end:
        return f"Every figure was exact to {share} up to the highest load tried: {reach}."
    return f"Every figure was exact to {share} up to {reach}. Trust no curve of this machine beyond that."


def _frontier(result: Selftest) -> Iterator[str]:
    known = [(preset.frontier_error, preset.preset) for preset in result.presets if preset.frontier_error is not None]
    if known:
        error, name = max(known)
        yield f"Frontiers drawn from our records lie within {_percent(error)} of the true ones{f' ({name})' if error else ''}."


def _broken(load: LoadResult) -> Iterator[str]:
    where = f"{load.preset} at {load.streams}"
    if load.unmatched:
        yield f"{where}: {counted(load.unmatched, 'answer')} did not hold as many tokens as the endpoint sent. Please report this."
    if load.early:
        yield f"{where}: {counted(load.early, 'stamp')} before the bytes were sent. This machine's clocks cannot be trusted."
    if not load.exact and load.worst is not None:
        yield f"{where}: {_figure(load.worst[0])} is off by {_percent(load.worst[1])}, measured {counted(load.tries, 'time')}."


def _table(result: Selftest) -> Fitted:
    from sweep.report.fitted import Fitted

    table = Fitted(padding=2)
    table.add_column("endpoint")
    for head in ("streams", "tok/s", "stamps", "TTFT error\np50/p99/max µs", "token error\np50/p99/max µs", "figures\noff by"):
        table.add_column(head, justify="right")
    table.add_column("")
    for preset in result.presets:
        for place, load in enumerate(preset.loads):
            table.add_row(preset.preset.removeprefix("synthetic-") if place == 0 else "", *_row(load))
    return table


def _row(load: LoadResult) -> tuple[str, ...]:
    worst = load.worst
    return (
        str(load.streams),
        significant(load.tok_per_s),
        f"{load.token_error_s.n:,}",
        _microseconds(load.ttft_error_s),
        _microseconds(load.token_error_s),
        _percent(worst[1]) if worst else MISSING,
        "✓" if load.exact else "✗",
    )


def _microseconds(spread: Spread) -> str:
    return "/".join(MISSING if value is None else f"{value * 1e6:.0f}" for value in (spread.p50, spread.p99, spread.max))


def _percent(error: float) -> str:
    return f"{abs(error) * 100:.2f} %" if abs(error) >= EVEN or error == 0 else "<0.01 %"


def _figure(name: str) -> str:
    """`ttft_p99_s` -> `TTFT p99`."""
    words = {"output_tok_per_s": "throughput", "goodput_req_per_s": "goodput"}
    metric, _, rest = name.partition("_")
    return words.get(name) or f"{metric.upper()} {rest.removesuffix('_s')}"


def _most(spreads: Iterator[Spread] | list[Spread], which: str = "max") -> float | None:
    return max((value for spread in spreads if (value := getattr(spread, which)) is not None), default=None)
