"""Where a run writes: reports/<slug>/, found writable before anything is sent."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from sweep.errors import OutputError

MAX_NAME = 120
LEAST_FREE_BYTES = 20_000_000  # less than this a long sweep would fill


def slug(text: str) -> str:
    """A folder and file name: characters outside `A-Za-z0-9._` become `-`."""
    return re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._]", "-", text)).strip("-.")[:MAX_NAME] or "sweep"


def require_writable(parent: Path, flag: str = "--out") -> None:
    """Makes `parent` where it is missing. Raises OutputError when no file can be written there, or not enough of them."""
    probe = parent / f".writable-{os.getpid()}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"\0" * 4096)
        disk = shutil.disk_usage(parent)
    except OSError as error:
        raise OutputError(f"{parent}: {error.strerror or error}", f"choose a folder that can be written with {flag}") from None
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    if disk.total > 0 and disk.free < LEAST_FREE_BYTES:
        raise OutputError(
            f"{parent}: only {disk.free / 1e6:.1f} MB are free", f"free some space or choose another folder with {flag}"
        )


def create(parent: Path, name: str) -> Path:
    """The folder of one curve. It may exist, as an earlier run's, as long as it holds no sweep."""
    folder = parent / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}", "choose another folder with --out") from None
    return folder
