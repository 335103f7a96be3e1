"""`sweep pick`: which load meets an SLO, from the file alone."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from sweep.cli import values
from sweep.cli.options import JUDGE, Axis, FileOrInput, Json, Slo

PANEL = "Judge"
PLACE = 5

Rule = Literal["pchip", "steffen", "step"]


def pick(
    file: FileOrInput,
    slo: Slo = None,
    axis: Axis = None,
    interp: Annotated[
        Rule,
        JUDGE("--interp RULE", "between loads: pchip, steffen or step [pchip]", values.one_of(Rule)),
    ] = "pchip",
    json: Json = False,
) -> int:
    """Pick the load that meets an SLO.

    The highest load and the goodput at it, whether measured or interpolated, from the joint tables of the file alone: the
    SLO may be younger than the file. Without --slo, for the file's own; with --axis the frontier is read too, where the
    SLO bounds it. Exit code 1: an SLO is met by no load.

        sweep pick reports/NAME --slo 'ttft_p99<=450ms,tpot_p99<=40ms'
    """
    from sweep.cli.curves import curve as read
    from sweep.cli.screen import terminal
    from sweep.curve import pick as picking
    from sweep.errors import UsageError
    from sweep.plan.slo import parse
    from sweep.report import picked

    asked = [each for text in slo or () for each in parse(text)]
    curve = read(file)
    slos = asked or list(curve.slos)
    if not slos:
        raise UsageError("which SLO? The file names none", "give --slo, for instance --slo 'ttft_p99<=450ms,tpot_p99<=40ms'")
    readings = [None if axis is None else picking.reading(curve, each, axis, interp) for each in slos]
    picks = [picking.pick(curve, each, interp) for each in slos]
    if json:
        sys.stdout.write(picked.document(curve, picks, readings, interp))
    else:
        console = terminal()
        for place, (found, reading) in enumerate(zip(picks, readings, strict=True)):
            console.print("\n" if place else "", end="")
            picked.show(console, found, interp, reading)
    return 0 if all(found.verdict == "met" for found in picks) else 1
