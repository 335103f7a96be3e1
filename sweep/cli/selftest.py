"""`sweep selftest`: how wrong is the tool on this machine?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

PLACE = 10


def selftest(
    quick: Annotated[bool, typer.Option("--quick", help="light loads only: half a minute instead of two")] = False,
    json: Annotated[bool, typer.Option("--json", help="one document on stdout, progress on stderr")] = False,
) -> None:
    """Measure the tool's own error against simulated endpoints whose true times are known.

    Says up to which load it is exact to 1 % on this machine. Exit code 4 when it is not fit to measure here. Keep the result
    with --json and attach it to a curve with `sweep run --calibration FILE`.
    """
    from sweep.cli.screen import print_document
    from sweep.errors import TrustError
    from sweep.selftest.drive import selftest as measure

    result = measure(quick=quick, tell=lambda what: print(f"measuring {what}", file=sys.stderr, flush=True))
    if json:
        print_document(result)
    else:
        from rich.console import Console

        from sweep.selftest import text

        text.show(Console(highlight=False), result)
    if not result.fit:
        raise TrustError("the tool is not fit to measure on this machine", "try again when nothing else runs here")
