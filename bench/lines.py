"""A table shown line by line, as it is made, with the command that makes it and how long that took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path


def show(lines: Iterable[str]) -> None:
    """Processor time is told beside the time that passed: it is the same on a busy machine."""
    began = time.perf_counter()
    _write(f"# python -m bench.{' '.join([Path(sys.argv[0]).stem, *sys.argv[1:]])}")
    for line in lines:
        _write(line)
    _write(f"# {time.process_time():.0f} s of one core, {time.perf_counter() - began:.0f} s here")


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
