"""A table shown line by line, as it is made."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def show(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
