"""Cells with a canary beside them: its prompts are asked before, between and after, never while a cell is under load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeVar

from sweep.model import Finding

BETWEEN_S = 0.4  # a round that takes longer is asked before the first cell and after the last only

T = TypeVar("T")


def accompanied(cells: Iterator[T], ask: Callable[[], list[str | None]], found: list[Finding]) -> Iterator[T]:
    """The cells as they come; what the answers to `ask` say together is added to `found`, however the cells end.

    Answers alike say that what was measured last is what was measured first.
    """
    from sweep.measure.canary import findings, heard

    rounds = []

    def asked(after: int) -> bool:
        """One round; whether it was answered, and quickly enough for one between cells."""
        began = monotonic()
        answers = ask()
        rounds.append(heard(after, answers))
        return None not in answers and monotonic() - began <= BETWEEN_S

    quick, done = asked(0), 0
    try:
        for done, cell in enumerate(cells, 1):
            yield cell
            if quick:
                quick = asked(done)
        if rounds[-1].after != done:
            asked(done)
    finally:
        found += findings(rounds)
