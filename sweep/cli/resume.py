"""`sweep resume`: go on with an interrupted sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sweep.cli.options import Budget, Header, Json, MaxTokens, Yes

PANEL = "Measure"
PLACE = 20


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the folder of the interrupted run, reports/NAME")],
    header: Header = None,
    budget: Budget = None,
    max_tokens: MaxTokens = None,
    json: Json = False,
    yes: Yes = False,
) -> None:
    """Go on with an interrupted sweep.

    Measures the cells that are left and writes the whole curve. A higher --max-tokens or --budget goes on past a limit: what
    was spent until now counts. Keys and headers are never on disk: give them again.
    """
    from sweep.cli.screen import watching
    from sweep.run import resume as go_on

    with watching(json=json, yes=yes) as watch:
        go_on(folder, watch, headers=tuple(header or ()), budget_s=budget, max_tokens=max_tokens)
