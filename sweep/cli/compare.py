"""`sweep compare`: curve files against each other, without their endpoints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

PANEL = "Judge"
PLACE = 10

WHERE, PRICE, HOW, OUT = "Where to compare", "Price", "How", "Output"
Texts = list[str] | None


def compare(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="two curve files or more (or their folders): A, B, C…")],
    slo: Annotated[
        Texts,
        typer.Option(metavar="SLO", rich_help_panel=WHERE, help="a preset, or bounds like ttft_p99<=450ms; repeatable"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="20,50", rich_help_panel=WHERE, help="places on the axis, in its unit [round ones all cover]"),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=WHERE,
            help="normalised-e2e, interactivity, tpot, e2e, ttft or smooth; total/NAME for total throughput",
        ),
    ] = None,
    price: Annotated[
        Texts,
        typer.Option(
            metavar="A=2.5", rich_help_panel=PRICE, help="of an accelerator-hour; A=0.60/M of a million tokens; repeatable"
        ),
    ] = None,
    accelerators: Annotated[
        Texts,
        typer.Option(metavar="A=8", rich_help_panel=PRICE, help="how many stand behind a curve, where its file is silent"),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="20=3,50=1", rich_help_panel=PRICE, help="your demand at places on the axis: gives one mean cost"),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(metavar="N", min=0, rich_help_panel=PRICE, help="per million tokens: the best that stays under it"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", rich_help_panel=HOW, help="compare even what is not comparable")] = False,
    delta: Annotated[
        float,
        typer.Option(
            metavar="N", min=0.001, max=1, hidden=True, rich_help_panel=HOW, help="a difference that decides nothing [0.03]"
        ),
    ] = 0.03,
    seed: Annotated[int, typer.Option(metavar="N", hidden=True, rich_help_panel=HOW, help="of the bootstrap [0]")] = 0,
    json: Annotated[bool, typer.Option("--json", rich_help_panel=OUT, help="one document on stdout")] = False,
    md: Annotated[bool, typer.Option("--md", rich_help_panel=OUT, help="Markdown on stdout")] = False,
    html: Annotated[Path | None, typer.Option(metavar="OUT", rich_help_panel=OUT, help="write the page")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="OUT", rich_help_panel=OUT, help="write OUT.svg and OUT.png")] = None,
) -> int:
    """Compare curve files: who is better, by how much, how sure, at what price.

    Exit code 1: a target asked for is met by no curve. 4: the comparison would be unfair.
    """
    from sweep.cli.values import accelerator_counts, curve_file, places, prices, weighted
    from sweep.curve import artifact
    from sweep.curve.compare.together import compare as put_together
    from sweep.curve.compare.together import unmet
    from sweep.plan.slo import parse

    curves = [artifact.load(curve_file(file)) for file in files]
    compared = put_together(
        curves,
        slos=[each for text in slo or () for each in parse(text)],
        at=places(at, "--at"),
        weights=weighted(weights, "--weights"),
        axis=axis,
        prices=prices(price or ()),
        counts=accelerator_counts(accelerators or (), "--accelerators"),
        cost_ceiling=max_cost or None,
        delta=delta,
        seed=seed,
        force=force,
    )
    from sweep.report.compare import out

    written = out.write(compared, curves, html=html, figure=figure)
    if json:
        sys.stdout.write(out.json_text(compared))
    elif md:
        sys.stdout.write(out.markdown_text(compared, curves))
    else:
        out.show(compared, curves, written)
    return 1 if unmet(compared) else 0
