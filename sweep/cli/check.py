"""`sweep check`: does a curve file hold?"""

from __future__ import annotations

from sweep.cli.options import Files, Json

PANEL = "Read"
PLACE = 20


def check(files: Files, json: Json = False) -> None:
    """Verify curve files, recomputing what they say.

    Schema, digest, and all that follows from the file's own tables and from NAME.records.parquet, where that lies beside it.
    Exit code 4 when a file does not hold.
    """
    from sweep.cli.curves import curve_file
    from sweep.cli.screen import print_document
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
