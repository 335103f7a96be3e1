"""Stamps: the kernel's where it gives them, the clock's elsewhere; before the send, through TLS too."""

from __future__ import annotations

import asyncio
import asyncio.sslproto
import inspect
import socket
import sys
import time
from time import monotonic_ns

import aiohttp
import pytest

from sweep.load.dial import aiohttp_is_as_known
from sweep.load.timer import Alarm
from sweep.load.wire import READ_BYTES, StampingSocket, Wire

linux = pytest.mark.skipif(sys.platform != "linux", reason="kernel stamps are Linux's")


def pair(wire: Wire) -> tuple[StampingSocket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = wire.socket((socket.AF_INET, socket.SOCK_STREAM, 0))
        ours.connect(server.getsockname())
        return ours, server.accept()[0]


def received_late(wire: Wire, into: bool) -> tuple[int, int, int, int]:
    """(before the send, after it, stamp, when it was read at last)."""
    ours, theirs = pair(wire)
    with ours, theirs:
        theirs.send(b"warm up")
        time.sleep(0.01)
        ours.recv(100)
        before = monotonic_ns()
        theirs.send(b"hello")
        after = monotonic_ns()
        time.sleep(0.05)
        if into:
            assert ours.recv_into(bytearray(10), 5) == 5
        else:
            assert ours.recv(100) == b"hello"
        return before, after, ours.stamp_ns, monotonic_ns()


@linux
@pytest.mark.parametrize("into", [False, True])
def test_a_read_is_stamped_when_the_packet_came(into: bool) -> None:
    wire = Wire()
    before, after, stamp, read = received_late(wire, into)
    assert before <= stamp < after + 30_000_000 < read
    assert wire.unstamped <= 1  # the kernel begins to stamp a moment after it is asked to


def test_without_kernel_stamps_it_is_when_it_was_read() -> None:
    wire = Wire(kernel=False)
    _, after, stamp, read = received_late(wire, False)
    assert after + 50_000_000 <= stamp <= read
    assert wire.unstamped == wire.reads == 2


def test_the_end_of_a_stream_is_stamped_too() -> None:
    ours, theirs = pair(Wire())
    with ours:
        theirs.close()
        before = monotonic_ns()
        assert ours.recv(100) == b""
        assert before <= ours.stamp_ns <= monotonic_ns()


def test_a_send_is_stamped_before_it_leaves_and_once() -> None:
    ours, theirs = pair(Wire())
    with ours, theirs:
        before = monotonic_ns()
        ours.send(b"a")
        first = ours.sent_ns
        assert before <= first <= monotonic_ns()
        ours.send(b"b")
        assert ours.sent_ns == first


def test_a_step_of_the_wall_clock_is_counted_and_followed() -> None:
    wire = Wire()
    wire.recheck()
    assert wire.steps == 0
    wire.offset_ns += 3_000_000
    wire.recheck()
    assert wire.steps == 1
    wire.recheck()
    assert wire.steps == 1


def test_what_we_lean_on_is_there() -> None:
    """A new Python or aiohttp that takes one of these away must be noticed here."""
    assert "socket_factory" in inspect.signature(aiohttp.TCPConnector).parameters
    assert aiohttp_is_as_known()
    assert Wire().read_bytes == READ_BYTES
    assert asyncio.sslproto.SSLProtocol.max_size == READ_BYTES


@pytest.mark.parametrize("precise", [True, False])
def test_alarms_never_ring_early(precise: bool) -> None:
    async def ring() -> int:
        rang = asyncio.get_running_loop().create_future()
        alarm = Alarm(lambda: rang.set_result(monotonic_ns()), precise)
        due = monotonic_ns() + 20_000_000
        alarm.set(due + 10_000_000_000)
        alarm.set(due)
        late = await rang - due
        alarm.close()
        return late

    assert -2_000_000 * (not precise) <= asyncio.run(ring()) < 5_000_000_000
