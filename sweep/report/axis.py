"""An axis label, `output throughput [tok/s]`, taken apart."""

from __future__ import annotations

import re


def unit(label: str) -> str:
    """`tok/s/user` of `… [tok/s/user, TTFT included]`; "" where there is none."""
    found = re.search(r"\[([^,\]]+)", label)
    return found[1] if found else ""


def bare(label: str) -> str:
    """Without its unit."""
    return re.sub(r"\s*\[.*\]$", "", label)
