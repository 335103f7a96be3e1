"""A read with several chunks is the client's doing only if the client was away for that long."""

from __future__ import annotations

import asyncio
import socket
import time
from time import monotonic_ns

import pytest

from sweep.load.look import CLOSE_NS, UNKNOWN_GAP_NS, Look, Reads

MS = 1_000_000


class Away(Look):
    """A look whose bytes have waited for so long."""

    def __init__(self, ns: int) -> None:
        super().__init__()
        self._ns = ns

    def unread_since(self, stamp_ns: int) -> int:
        return monotonic_ns() - self._ns


def waited_ns(busy_s: float, idle_s: float) -> int:
    """How long bytes can have waited that came while the loop was busy, or while it was idle."""
    look = Look()

    async def run() -> int:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        found: asyncio.Future[int] = loop.create_future()

        def read() -> None:
            stamp_ns = monotonic_ns()
            ours.recv(100)
            found.set_result(stamp_ns - look.unread_since(stamp_ns))

        loop.add_reader(ours, read)
        await asyncio.sleep(0)
        if busy_s:
            theirs.send(b"early")
            time.sleep(busy_s)
        else:
            loop.call_later(idle_s, lambda: None)
            loop.run_in_executor(None, lambda: (time.sleep(idle_s), theirs.send(b"on time")))
        waited = await found
        loop.remove_reader(ours)
        ours.close()
        theirs.close()
        return waited

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(look)) as runner:
        return runner.run(run())


def test_bytes_that_met_a_busy_loop_may_have_waited_for_all_of_it() -> None:
    assert waited_ns(0.03, 0) >= 30 * MS


def test_bytes_that_woke_an_idle_loop_have_hardly_waited() -> None:
    assert min(waited_ns(0, 0.03) for _ in range(5)) < 10 * MS


def test_an_overdue_alarm_shows_that_the_loop_could_not_wake() -> None:
    look = Look()
    look.alarm_ns = monotonic_ns() - 50 * MS
    assert monotonic_ns() - look.unread_since(monotonic_ns()) >= 50 * MS
    assert look.unread_since(7) == 7
    look.close()


@pytest.mark.parametrize(
    ("gap_ns", "away_ns", "late"),
    [
        (20 * MS, 9 * MS, 0),
        (20 * MS, 11 * MS, 1),
        (0, UNKNOWN_GAP_NS // 3, 0),
        (0, UNKNOWN_GAP_NS, 1),
        (1, CLOSE_NS // 2, 0),
        (1, 2 * CLOSE_NS, 1),
    ],
)
def test_merged_means_away_for_half_a_gap(gap_ns: int, away_ns: int, late: int) -> None:
    look = Away(away_ns)
    reads = Reads(look)
    reads.merged(gap_ns, monotonic_ns())
    look.close()
    assert reads.late == late


def test_without_a_look_nothing_is_said() -> None:
    reads = Reads()
    reads.merged(1, 0)
    assert reads.late is None
