"""`sweep merge`: several curve files of one workload into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Read"
PLACE = 40


def merge(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="two curve files or more, or their folders")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="write this file, NAME.curve.json")],
    shards: Annotated[
        bool,
        typer.Option("--shards", help="the files are parts of the same cells, measured at the same time by several clients"),
    ] = False,
) -> None:
    """Merge curve files of one workload: counts, histograms and joint tables add exactly.

    Each file is a repeat, and its points stay points of their own; with --shards they are parts of the same cells and
    become one point each. Different workloads or systems are refused (exit code 4).
    """
    from sweep.cli.values import curve_file, new_curve_file
    from sweep.curve import artifact
    from sweep.curve import merge as merging
    from sweep.curve.files import write_atomically
    from sweep.errors import UsageError

    path = new_curve_file(out)
    if len(files) < 2:
        raise UsageError("only one file to merge", "name two curve files or more")
    curves = [artifact.load(curve_file(file)) for file in files]
    merged = (merging.merge_shards if shards else merging.merge_repeats)(curves, name=path.name.removesuffix(".curve.json"))
    write_atomically(path, artifact.to_json(merged))
    loads = len({point.load for point in merged.points})
    print(f"{path}: {len(merged.points)} points at {loads} loads, from {len(files)} files")
