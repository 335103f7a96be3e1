"""`sweep check`: does a curve file hold?"""

from __future__ import annotations

from typing import Annotated

import typer

PANEL = "Read"
PLACE = 20


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="curve files, or their folders")],
    json: Annotated[bool, typer.Option("--json", help="one document on stdout")] = False,
) -> None:
    """Verify curve files: schema, digest, and all that can be recomputed.

    Uses NAME.records.parquet where it lies beside the file. Exit code 4 when a file does not hold.
    """
    from sweep.cli.screen import print_document
    from sweep.cli.values import curve_file
    from sweep.curve import check as curve_check
    from sweep.errors import TrustError

    checked = {str(path): curve_check.check(path) for path in map(curve_file, files)}
    if json:
        print_document(checked)
    else:
        for path, found in checked.items():
            print(f"{path}: {'holds' if found.holds else 'does not hold'}")
            for line in curve_check.summary(found):
                print(f"  {line}")
    broken = [path for path, found in checked.items() if not found.holds]
    if broken:
        raise TrustError(f"{', '.join(broken)}: the file does not hold", "get the original, or measure again")
