"""What measures: this tool, and the kind of host it runs on, without its name."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

import sweep
from sweep.model import Tool


def tool() -> Tool:
    return Tool(name="pareto-sweep", version=sweep.__version__, python=platform.python_version())


def observed() -> dict[str, object]:
    """Keys of `Curve.client`: a fingerprint that says whether two curves came from the same kind of host, cores, kernel."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    kernel = f"{platform.system()} {platform.release()}"
    identity = f"{_cpu_model()}\n{cores}\n{kernel}"
    return {
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "cores": cores,
        "kernel": kernel,
        "python": platform.python_version(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
