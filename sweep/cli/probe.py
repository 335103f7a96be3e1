"""`sweep probe`: what an endpoint is, before it is measured."""

from __future__ import annotations

from typing import Annotated

import typer

PANEL = "Measure"
PLACE = 15


def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help="the API, with or without /v1")],
    model: Annotated[str | None, typer.Option(metavar="ID", help="which model, where several are served")] = None,
    dialect: Annotated[str, typer.Option(metavar="NAME", help="how the API is spoken: chat, completions, … [chat]")] = "chat",
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: VALUE'", help="header to send; repeatable. A key may also be in SWEEP_API_KEY or OPENAI_API_KEY"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="one document on stdout: the `endpoint` of a curve file")] = False,
    insecure: Annotated[bool, typer.Option("--insecure", hidden=True, help="do not verify the certificate; recorded")] = False,
) -> None:
    """Ask an endpoint what it is, with at most twelve short requests.

    Model, limits, what it reports and how it streams. `sweep run` asks the first four of these itself, before any load.
    """
    from sweep.cli.screen import print_document
    from sweep.load import preflight
    from sweep.load.client import target_from

    target = target_from(url, model=model, headers=tuple(header or ()), insecure=insecure)
    endpoint = preflight.probe(target, dialect, thorough=True)
    if json:
        print_document(endpoint)
        return
    from rich.console import Console

    from sweep.report import endpoint as page

    page.show(Console(highlight=False), endpoint)
