"""`sweep show`: a curve file on the terminal."""

from __future__ import annotations

import sys

from sweep.cli.options import FileOrInput, Json

PANEL = "Read"
PLACE = 10


def show(file: FileOrInput, json: Json = False) -> None:
    """Show a curve file: table, frontier, what was found.

    With --json the document itself, once it is verified.
    """
    from sweep.cli.curves import curve as read
    from sweep.cli.screen import terminal
    from sweep.curve import artifact

    curve = read(file)
    if json:
        sys.stdout.buffer.write(artifact.to_json(curve))
        return
    from sweep.report import text

    text.show(terminal(), curve)
