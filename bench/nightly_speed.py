"""How long a big history takes to judge, and how much memory: `python -m bench.nightly_speed [--nights 1000]`.

Writes curve files of 12 points and a usual size into a temporary folder and runs the command on them, first without an index,
then with the one the first run left.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from curve_builder import curve, point  # type: ignore[import-not-found]

from sweep.curve import artifact

LEVELS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)
CODED = {f"{name}_s": "HISTFAAA" * 200 for name in ("ttft", "tpot", "itl", "e2e", "normalised_e2e", "chunk_gap", "max_stall")}


def write(folder: Path, nights: int) -> int:
    """Bytes written."""
    rng = np.random.default_rng(0)
    first = datetime(2023, 1, 1, tzinfo=UTC)
    for night in range(nights):
        points = [
            point(level, cell=cell, output=level * float(np.exp(rng.normal(0, 0.02))), spread=0.03, histograms=CODED)
            for cell, level in enumerate(LEVELS)
        ]
        made = curve(*points, name=f"night-{night:04d}", created_at=(first + timedelta(days=night)).isoformat())
        artifact.save(msgspec.structs.replace(made, run_id=f"r{night}"), folder)
    return sum(path.stat().st_size for path in folder.iterdir())


def timed(folder: Path, *options: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and MB of one run of the command."""
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "sweep", "regress", str(folder), "--json", *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), f"the command failed: exit code {process.returncode}"
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder, options.nights)
        print(f"{options.nights} nights of 12 points, {size / options.nights / 1e3:.0f} kB each")
        for title, flags in (("without an index", ["--no-page"]), ("with it", ["--no-page"]), ("and with pages", [])):
            seconds, cpu_s, megabytes = timed(folder, *flags)
            print(f"  {title:18}{seconds:6.2f} s, {cpu_s:.2f} s of processor time{megabytes:8.0f} MB")


if __name__ == "__main__":
    main()
