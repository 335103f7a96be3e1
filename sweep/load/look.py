"""Whose doing a read with several chunks is: the server's, that sent them together, or ours, that came late.

A socket that is ready is read in the very round of the loop that finds it ready. So bytes can have been waiting only since the
round before, or, if the loop was asleep, since what woke it. Two chunks that were sent further apart than that cannot share
a read.
"""

from __future__ import annotations

import selectors
from time import monotonic_ns

AT_ONCE_NS = 50_000  # a poll that took longer had nothing ready and slept
COPY_NS = 500  # for each that is ready
CLOSE_NS = 100_000  # chunks nearer than this are one burst, whoever merged them
UNKNOWN_GAP_NS = 4_000_000  # of a stream whose first read holds all there is: quicker than nearly all decode steps


class Look(selectors.DefaultSelector):
    """The selector of a worker's loop, remembering when it looked."""

    def __init__(self) -> None:
        super().__init__()
        self.alarm_ns = 1 << 62  # when an alarm that this selector waits for was due
        self._looked_ns = self._since_ns = monotonic_ns()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        asked_ns = monotonic_ns()
        ready = super().select(timeout)
        now_ns = monotonic_ns()
        slept = now_ns - asked_ns > AT_ONCE_NS + COPY_NS * len(ready)
        self._since_ns = now_ns if slept else self._looked_ns
        self._looked_ns = now_ns
        return ready

    def unread_since(self, stamp_ns: int) -> int:
        """The earliest that bytes read in this round can have begun to wait; `stamp_ns` is when the last of them came.

        A loop that was asleep may have been kept from waking: then what came is older, or the alarm is overdue.
        """
        return min(self._since_ns, stamp_ns, self.alarm_ns)


class Reads:
    """How many chunks this process's reads held (`counts`; its last cell: that many or more), and how often it merged them."""

    __slots__ = ("_look", "counts", "late")

    def __init__(self, look: Look | None = None) -> None:
        self.counts = [0] * 65
        self.late: int | None = 0 if look is not None else None  # reads whose chunks may have been sent apart
        self._look = look

    def merged(self, gap_ns: float, stamp_ns: int) -> None:
        """A read held several chunks of a stream whose chunks are `gap_ns` apart on average, 0 where that is not known yet."""
        if self._look is None or self.late is None:
            return
        waited_ns = monotonic_ns() - self._look.unread_since(stamp_ns)
        if waited_ns > max((gap_ns or UNKNOWN_GAP_NS) / 2, CLOSE_NS):
            self.late += 1
