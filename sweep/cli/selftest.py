"""`sweep selftest`: how wrong is the tool on this machine?"""

from __future__ import annotations

import sys
from typing import Annotated

from sweep.cli.options import HOW, Json

PLACE = 10


def selftest(
    quick: Annotated[bool, HOW("--quick", "light loads only: half a minute instead of two")] = False,
    json: Json = False,
) -> None:
    """Measure the tool's own error on this machine.

    Against simulated endpoints whose true times are known: says up to which load it is exact to 1 %. Exit code 4 when it is not fit to measure here. Keep the result
    with --json and attach it to a curve with `sweep run --calibration FILE`.
    """
    from sweep.cli.screen import print_document, terminal
    from sweep.errors import TrustError
    from sweep.selftest.drive import selftest as measure

    result = measure(quick=quick, tell=lambda what: print(f"measuring {what}", file=sys.stderr, flush=True))
    if json:
        print_document(result)
    else:
        from sweep.selftest import text

        text.show(terminal(), result)
    if not result.fit:
        raise TrustError("the tool is not fit to measure on this machine", "try again when nothing else runs here")
