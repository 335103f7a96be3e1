"""`sweep show`: a curve file on the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

PANEL = "Read"
PLACE = 10


def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="curve file, its folder, or - for standard input")],
    json: Annotated[bool, typer.Option("--json", help="print the file's own document")] = False,
) -> None:
    """Show a curve file: table, frontier, what was found."""
    from sweep.cli.values import curve_file
    from sweep.curve import artifact

    curve = artifact.loads(sys.stdin.buffer.read()) if file == "-" else artifact.load(curve_file(file))
    if json:
        sys.stdout.buffer.write(artifact.to_json(curve))
        return
    from rich.console import Console

    from sweep.report import text

    text.show(Console(highlight=False), curve)
