"""Whose doing a read with several chunks is: the server's, that sent them together, or ours, that came late.

A socket that is ready is read in the very round of the loop that finds it ready. So bytes can have been waiting only since the
round before, or, if the loop was asleep, since what woke it. Two chunks that were sent further apart than that cannot share
a read. Where the loop slept and was kept from waking, whatever else this round attends to shows since when.
"""

from __future__ import annotations

import selectors
from time import monotonic_ns

AT_ONCE_NS = 50_000  # a poll that took longer had nothing ready and slept
COPY_NS = 500  # for each that is ready
CLOSE_NS = 100_000  # chunks nearer than this are one burst, whoever merged them
UNKNOWN_GAP_NS = 4_000_000  # of a stream whose first read holds all there is: quicker than nearly all decode steps
_NEVER = 1 << 62


class Look(selectors.DefaultSelector):
    """The selector of a worker's loop, remembering when it looked."""

    def __init__(self) -> None:
        super().__init__()
        self.late = 0  # reads whose chunks may have been sent apart
        self.earliest_ns = _NEVER  # when the first of what this round attends to came or was due
        self._merged: list[tuple[float, int]] = []  # this round's: (gap that makes it late, when it was read)
        self._looked_ns = self._since_ns = monotonic_ns()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._merged:
            self._judge()
        asked_ns = monotonic_ns()
        ready = super().select(timeout)
        now_ns = monotonic_ns()
        slept = now_ns - asked_ns > AT_ONCE_NS + COPY_NS * len(ready)
        self._since_ns = now_ns if slept else self._looked_ns
        self._looked_ns = now_ns
        self.earliest_ns = _NEVER
        return ready

    def note(self, at_ns: int) -> None:
        """Something came, or was due, at that time and is attended to in this round."""
        if at_ns < self.earliest_ns:
            self.earliest_ns = at_ns

    def merged(self, gap_ns: float) -> None:
        """A read held several chunks of a stream whose chunks are `gap_ns` apart on average, 0 where that is not known yet."""
        self._merged.append((max((gap_ns or UNKNOWN_GAP_NS) / 2, CLOSE_NS), monotonic_ns()))

    def _judge(self) -> None:
        since_ns = min(self._since_ns, self.earliest_ns)
        self.late += sum(read_ns - since_ns > apart_ns for apart_ns, read_ns in self._merged)
        self._merged.clear()


class Reads:
    """How many chunks this process's reads held (`counts`; its last cell: that many or more), and how often it merged them."""

    __slots__ = ("_look", "counts")

    def __init__(self, look: Look | None = None) -> None:
        self.counts = [0] * 65
        self._look = look

    @property
    def late(self) -> int | None:
        """Reads whose chunks may have been sent apart; None where nothing looked."""
        return None if self._look is None else self._look.late

    def merged(self, gap_ns: float) -> None:
        """See `Look.merged`."""
        if self._look is not None:
            self._look.merged(gap_ns)
