"""Regenerates the example artifacts of this folder, among them the README's picture: `make examples`.

A sweep of a simulated endpoint in virtual time: nothing here is the speed of a real machine. Every later version must read these
files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from sweep.cli.screen import watching
from sweep.run import Settings, run

HERE = Path(__file__).parent
KEPT = (".curve.json", ".records.parquet", ".hlog", ".svg", ".png", ".html")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, watching(json=False, yes=True) as watch:
        settings = Settings(
            endpoint="sim:synthetic-70b-fp8",
            profiles=("1k-1k-ifx",),
            slos=("mlperf-llama2-70b-interactive", "ttft_p99<=2s,tpot_p99<=50ms"),
            grid="1,2,4,8,16,32,64,128,256",
            requests=1200,
            cap_s=24 * 3600.0,
            out=Path(folder),
            name="demo",
            virtual=True,
        )
        run(settings, watch)
        for ending in KEPT:
            shutil.copyfile(Path(folder) / "demo" / f"demo{ending}", HERE / f"demo{ending}")
    print(f"\ncopied to {HERE.relative_to(Path.cwd())}/", file=sys.stderr)


if __name__ == "__main__":
    main()
