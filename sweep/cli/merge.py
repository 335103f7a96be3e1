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
    become one point each. SLOs that not all files were judged by are left out; `sweep pick` answers them. Different workloads, systems or times of shards, and
    files that do not hold, are refused (exit code 4). Records that lie beside all files are merged too, but those of shards: each has a
    clock of its own.

        sweep merge monday tuesday --out both.curve.json
    """
    from sweep.cli.curves import curve as read
    from sweep.cli.curves import curve_file, new_curve_file
    from sweep.curve import artifact, merge_records, parquet
    from sweep.curve import merge as merging
    from sweep.curve.consistent_curve import problems
    from sweep.curve.files import write_atomically
    from sweep.errors import TrustError, UsageError
    from sweep.wording import counted

    path = new_curve_file(out)
    if len(files) < 2:
        raise UsageError("only one file to merge", "name two curve files or more")
    curves = [read(file) for file in files]
    for file, own in zip(files, curves, strict=True):
        for problem in problems(own):  # the first says enough
            raise TrustError(f"{file} does not hold: {problem}", "`sweep check` says all; get the original, or measure again")
    merged = (merging.merge_shards if shards else merging.merge_repeats)(curves, name=path.name.removesuffix(".curve.json"))
    records = None if shards else merge_records.beside([Path() if file == "-" else curve_file(file) for file in files])
    if records is not None:
        found = merge_records.of_repeats(curves, records, merged)
        parquet.write_records(parquet.beside(path), found, keep_chunks=all(len(part.chunk_ns) for part in records))
    write_atomically(path, artifact.to_json(merged))
    loads = len({point.load for point in merged.points})
    print(
        f"{path}: {counted(len(merged.points), 'point')} at {counted(loads, 'load')}, from {len(files)} files{', with their records' if records else ''}"
    )
    left_out = dict.fromkeys(slo.name for own in curves for slo in own.slos if slo not in merged.slos)
    if left_out:
        print(f"not all files were judged by {'; '.join(left_out)}: ask with sweep pick {path} --slo …")
