"""`sweep describe`: declare afterwards what a curve file could not know."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sweep.cli.options import OUTPUT, Describe, File, Set

PANEL = "Read"
PLACE = 30


def describe(
    file: File,
    set_: Set = None,
    describe: Describe = None,
    out: Annotated[Path | None, OUTPUT("--out FILE", "write this file instead, NAME.curve.json")] = None,
) -> None:
    """Declare software, hardware and price afterwards.

    The file gets a new digest and keeps the old one in `previous_digests`; measurements stay as they are. Without
    anything to declare, shows what is known, how, and what is missing.

        sweep describe reports/NAME --set hardware.accelerators='8×H200'
    """
    from sweep.cli.curves import curve_file, new_curve_file
    from sweep.curve import artifact, declare, journal, setup
    from sweep.curve.files import read_text, write_atomically

    path = curve_file(file)
    declared = declare.parse(read_text(describe) if describe else None, set_ or ())
    curve = artifact.load(path)
    if declared:
        target = path if out is None else new_curve_file(out)
        curve = setup.describe(curve, declared, curve.digest or artifact.digest(curve))
        data = artifact.to_json(curve)
        write_atomically(target, data)
        if target == path:
            journal.declare(path.parent, curve.name, declared)
        print(f"{target}: {artifact.loads(data).digest}, before {curve.previous_digests[-1]}")
        return
    from sweep.cli.screen import terminal
    from sweep.report import stated

    stated.show(terminal(), curve)
