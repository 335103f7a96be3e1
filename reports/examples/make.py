"""Regenerates the example artifacts of this folder, among them the README's picture: `make examples`.

Sweeps of a simulated endpoint in virtual time: nothing here is the speed of a real machine. Every later version must read these
files, so each of them shows something that a file can hold:

    demo     a closed loop over nine loads, with the pictures
    chunks   records beside it, with the time of every chunk
    open     Poisson arrivals, records beside it
    cells    more than 5,000 requests at a load: the joint table is cells
    merged   two repeats as one curve, hardware and price declared afterwards
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from sweep.cli.screen import watching
from sweep.curve import artifact, declare, setup
from sweep.curve.merge import merge_repeats
from sweep.run import Settings, run

HERE = Path(__file__).parent
CURVE, RECORDS, HLOG, SVG, PNG = ".curve.json", ".records.parquet", ".hlog", ".svg", ".png"
VARIED = """\
title = "lengths U[0.8·L, L] for L = 1024"
isl = { max = 1024, range_ratio = 0.8 }
osl = { max = 1024, range_ratio = 0.8 }
"""
BOUNDS = "ttft_p90<=50ms,tpot_p90<=20ms"
DECLARED = ('hardware.accelerators="4×Example-1 + 4×Example-2"', "price.per_accelerator_hour=2.5", "price.currency=EUR")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo(folder)
        small(folder, "chunks", grid="1,8", requests=30, keep_chunks=True)
        small(folder, "open", rate="5,40", kind="poisson", requests=60)
        small(folder, "cells", grid="64", requests=5200)
        keep(folder, "chunks", CURVE, RECORDS, HLOG)
        keep(folder, "open", CURVE, RECORDS)
        keep(folder, "cells", CURVE)
        merged(folder)
    print(f"\ncopied to {HERE}/", file=sys.stderr)


def demo(folder: Path) -> None:
    profile = folder / "1k-1k-varied.toml"
    profile.write_text(VARIED)
    sweep(
        folder,
        name="demo",
        endpoint="sim:synthetic-70b-fp8",
        profiles=(str(profile),),
        slos=("mlperf-llama2-70b-interactive", "ttft_p99<=2s,tpot_p99<=50ms"),
        grid="1,2,4,8,16,32,64,128,256",
        requests=1200,
    )
    keep(folder, "demo", CURVE, HLOG, SVG, PNG)


def merged(folder: Path) -> None:
    runs = [small(folder, f"repeat-{seed}", grid="1,4,16", requests=50, seed=seed) for seed in (1, 2)]
    together = artifact.loads(artifact.to_json(merge_repeats(runs, "merged")))
    described = setup.describe(together, declare.parse(None, DECLARED), artifact.digest(together))
    artifact.save(described, HERE)


def small(folder: Path, name: str, **settings: Any) -> artifact.Curve:
    return sweep(folder, name=name, endpoint="sim", profiles=("demo",), slos=(BOUNDS,), **settings)


def sweep(folder: Path, **settings: Any) -> artifact.Curve:
    with watching(json=False, yes=True) as watch:
        run(Settings(out=folder, virtual=True, cap_s=24 * 3600.0, **settings), watch)
    return artifact.load(folder / settings["name"] / f"{settings['name']}{CURVE}")


def keep(folder: Path, name: str, *endings: str) -> None:
    for ending in endings:
        shutil.copyfile(folder / name / f"{name}{ending}", HERE / f"{name}{ending}")


if __name__ == "__main__":
    main()
