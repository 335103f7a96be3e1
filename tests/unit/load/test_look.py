"""A read with several chunks is the client's doing only if the client was away for that long."""

from __future__ import annotations

import asyncio
import socket
import time
from importlib import import_module
from time import monotonic_ns

import pytest

from sweep.load.look import CLOSE_NS, UNKNOWN_GAP_NS, Look, Reads

MS = 1_000_000


class Meeting:
    """A read that claims to have merged chunks `gap_ns` apart, of bytes that met a loop asleep or busy for `busy_s`."""

    def __init__(self, gap_ns: float, *, busy_s: float = 0.0, came_before_ns: int | None = None) -> None:
        self.look = Look()
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(self.look)) as runner:
            runner.run(self._run(gap_ns, busy_s, came_before_ns))

    @property
    def late(self) -> bool:
        return self.look.late > 0

    async def _run(self, gap_ns: float, busy_s: float, came_before_ns: int | None) -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        done = asyncio.Event()

        def read() -> None:
            ours.recv(100)
            self.look.merged(gap_ns)
            if came_before_ns is not None:
                self.look.note(monotonic_ns() - came_before_ns)
            done.set()

        loop.add_reader(ours, read)
        await asyncio.sleep(0)
        if busy_s:
            theirs.send(b"early")
            time.sleep(busy_s)
        else:
            loop.run_in_executor(None, lambda: (time.sleep(0.03), theirs.send(b"on time")))
        await done.wait()
        loop.remove_reader(ours)
        ours.close()
        theirs.close()
        await asyncio.sleep(0.001)


def test_bytes_that_met_a_busy_loop_may_have_waited_for_all_of_it() -> None:
    assert Meeting(50 * MS, busy_s=0.03).late
    assert not Meeting(1000 * MS, busy_s=0.03).late


def test_bytes_that_woke_an_idle_loop_have_hardly_waited() -> None:
    assert not all(Meeting(20 * MS).late for _ in range(5))


def test_what_else_the_round_attends_to_shows_that_the_loop_could_not_wake() -> None:
    assert Meeting(20 * MS, came_before_ns=11 * MS).late


@pytest.mark.parametrize(("gap_ns", "apart_ns"), [(20 * MS, 10 * MS), (0, UNKNOWN_GAP_NS / 2), (1, CLOSE_NS)])
def test_merged_means_away_for_half_a_gap(monkeypatch: pytest.MonkeyPatch, gap_ns: int, apart_ns: float) -> None:
    now_ns = 10**9
    monkeypatch.setattr(import_module(Look.__module__), "monotonic_ns", lambda: now_ns)
    look = Look()
    for away_ns in (apart_ns / 2, apart_ns * 1.5):
        look.note(now_ns - round(away_ns))
        Reads(look).merged(gap_ns)
        look.select(0)
    assert look.late == Reads(look).late == 1
    look.close()


def test_without_a_look_nothing_is_said() -> None:
    reads = Reads()
    reads.merged(1)
    assert reads.late is None
