"""Files keep nine digits: what differs by less than that, and sums of such, is the same."""

from __future__ import annotations

ROUNDED = 1e-6


def same(stated: float | None, again: float | None) -> bool:
    if stated is None or again is None:
        return stated is again
    return abs(stated - again) <= ROUNDED * max(abs(stated), abs(again), 1e-9)
