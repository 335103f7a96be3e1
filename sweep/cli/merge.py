"""`sweep merge`: several curve files of one workload into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sweep.cli.options import HOW, OUTPUT, FilesOrInput

PANEL = "Read"
PLACE = 40

_SHARDS = "the files are parts of the same cells, measured at the same time by several clients"


def merge(
    files: FilesOrInput,
    out: Annotated[Path, OUTPUT("--out FILE", "write this file, NAME.curve.json")],
    shards: Annotated[bool, HOW("--shards", _SHARDS)] = False,
) -> None:
    """Merge curve files of one workload.

    Counts, histograms and joint tables add exactly. Each file is a repeat, and its points stay points of their own; with --shards they are parts of the same cells and
    become one point each. Different workloads or systems are refused (exit code 4).

        sweep merge monday tuesday --out both.curve.json
    """
    from sweep.cli import values
    from sweep.curve import artifact
    from sweep.curve import merge as merging
    from sweep.curve.files import write_atomically
    from sweep.errors import UsageError
    from sweep.wording import counted

    path = values.new_curve_file(out)
    if len(files) < 2:
        raise UsageError("only one file to merge", "name two curve files or more")
    curves = [values.curve(file) for file in files]
    merged = (merging.merge_shards if shards else merging.merge_repeats)(curves, name=path.name.removesuffix(".curve.json"))
    write_atomically(path, artifact.to_json(merged))
    loads = len({point.load for point in merged.points})
    print(f"{path}: {counted(len(merged.points), 'point')} at {counted(loads, 'load')}, from {len(files)} files")
