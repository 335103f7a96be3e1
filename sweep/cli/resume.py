"""`sweep resume`: go on with an interrupted sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Measure"
PLACE = 20


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder of the interrupted run, reports/NAME")],
    header: Annotated[
        list[str] | None, typer.Option(metavar="'NAME: VALUE'", help="header to send; keys are never on disk")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="the curve on stdout, progress on stderr")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="never ask")] = False,
) -> None:
    """Go on with an interrupted sweep.

    Measures the cells that are left and writes the whole curve.
    """
    from sweep.cli.screen import watching
    from sweep.run import resume as go_on

    with watching(json=json, yes=yes) as watch:
        go_on(folder, watch, headers=tuple(header or ()))
