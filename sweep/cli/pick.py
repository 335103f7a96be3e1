"""`sweep pick`: which load meets an SLO, from the file alone."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

PANEL = "Judge"
PLACE = 5


def pick(
    file: Annotated[str, typer.Argument(metavar="FILE", help="curve file, or its folder")],
    slo: Annotated[
        list[str] | None,
        typer.Option(metavar="SLO", help="a preset, or bounds like ttft_p99<=450ms; repeatable [the file's own]"),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="read this frontier too, where the SLO bounds it: interactivity, tpot, e2e, ttft; total/NAME"
        ),
    ] = None,
    interp: Annotated[
        str, typer.Option("--interp", metavar="RULE", help="between loads: pchip, steffen or step [pchip]", show_default=False)
    ] = "pchip",
    json: Annotated[bool, typer.Option("--json", help="one document on stdout")] = False,
) -> int:
    """Pick the load that meets an SLO, be it younger than the file.

    The highest load and the goodput at it, whether measured or interpolated, from the joint tables of the file alone.
    Exit code 1: an SLO asked for is met by no load.
    """
    from sweep.cli.values import axis_pair, curve_file, interpolation
    from sweep.curve import artifact
    from sweep.curve import pick as picking
    from sweep.errors import UsageError
    from sweep.plan.slo import parse

    rule = interpolation(interp)
    named = None if axis is None else axis_pair(axis)
    curve = artifact.load(curve_file(file))
    slos = [each for text in slo or () for each in parse(text)] or list(curve.slos)
    if not slos:
        raise UsageError("which SLO? The file names none", "give --slo, for instance --slo 'ttft_p99<=450ms,tpot_p99<=40ms'")
    readings = [None if named is None else picking.reading(curve, each, named, rule) for each in slos]
    picks = [picking.pick(curve, each, rule) for each in slos]
    if json:
        from sweep.report.picked import document

        sys.stdout.write(document(curve, picks, readings, rule))
    else:
        from rich.console import Console

        from sweep.report import picked

        console = Console(highlight=False)
        for place, (found, read) in enumerate(zip(picks, readings, strict=True)):
            console.print("\n" if place else "", end="")
            picked.show(console, found, rule, read)
    return 0 if all(found.verdict == "met" for found in picks) else 1
