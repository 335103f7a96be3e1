"""Where a run writes: reports/<slug>/, found writable before anything is sent."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sweep.errors import OutputError

MAX_NAME = 120


def slug(text: str) -> str:
    """A folder and file name: characters outside `A-Za-z0-9._` become `-`."""
    return re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._]", "-", text)).strip("-.")[:MAX_NAME] or "sweep"


def require_writable(parent: Path) -> None:
    """Makes `parent` where it is missing. Raises OutputError when no file can be written there."""
    probe = parent / f".writable-{os.getpid()}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"\0" * 4096)
    except OSError as error:
        raise OutputError(f"{parent}: {error.strerror or error}", "choose a folder that can be written with --out") from None
    finally:
        probe.unlink(missing_ok=True)


def create(parent: Path, name: str) -> Path:
    """The folder of one curve. It may exist, as an earlier run's, as long as it holds no sweep."""
    folder = parent / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}", "choose another folder with --out") from None
    return folder
