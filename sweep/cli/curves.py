"""Curve files as commands name them: the file, its folder, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.errors import UsageError

if TYPE_CHECKING:
    from sweep.model import Curve


def curve(text: str) -> Curve:
    """The curve of a file, of the only one in a folder, or of standard input (`-`)."""
    from sweep.curve import artifact

    return artifact.loads(sys.stdin.buffer.read(artifact.MAX_BYTES + 1)) if text == "-" else artifact.load(curve_file(text))


def curve_file(text: str) -> Path:
    """A curve file, or the only one in a folder."""
    path = Path(text)
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.curve.json"))
    if len(found) != 1:
        what = "no curve file" if not found else f"{len(found)} curve files"
        raise UsageError(f"{path}: {what} in this folder", "name the NAME.curve.json itself")
    return found[0]


def new_curve_file(path: Path) -> Path:
    """The path of a curve file that does not exist yet, in a folder that does."""
    from sweep.curve.artifact import FILE_NAME, SUFFIX

    name = path.name.removesuffix(SUFFIX)
    if path.is_dir() or name == path.name or not FILE_NAME.fullmatch(name):
        raise UsageError(f"--out {path}: not the name of a curve file", "for instance --out all.curve.json")
    if path.exists():
        raise UsageError(f"--out {path}: exists already", "choose another name, or move it away")
    return path
