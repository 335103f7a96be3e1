"""When bytes left and arrived: sockets that stamp themselves, handed to aiohttp through `socket_factory`.

A read takes the kernel's receive stamp (SO_TIMESTAMPNS), so a time does not depend on how busy this process is; where the
kernel gives none it is the monotonic clock right after the read. A send is stamped before its first byte is handed over.
"""

from __future__ import annotations

import asyncio
import asyncio.sslproto
import socket
import struct
import sys
from time import clock_gettime_ns, monotonic_ns
from typing import Any
from weakref import WeakValueDictionary

from sweep.load.look import Look

READ_BYTES = 65_536  # a larger buffer makes the allocator map and unmap memory for every read
STEP_NS = 50_000  # realtime moved against monotonic by more than reading both clocks explains

_TIMESTAMPNS = 35 if sys.platform == "linux" else None  # asm-generic/socket.h; not in the socket module
_TIMESPEC = struct.Struct("@ll")
_ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0


def realtime_offset() -> tuple[int, int]:
    """(realtime − monotonic, uncertainty) in ns: the tightest of 1000 bracketed readings."""
    best, offset = 1 << 62, 0
    for _ in range(1000):
        before = monotonic_ns()
        real = clock_gettime_ns(0)
        after = monotonic_ns()
        if after - before < best:
            best, offset = after - before, real - (before + after) // 2
    return offset, best


class Wire:
    """One process's sockets, the clock offset they share and what they counted."""

    __slots__ = ("_sockets", "kernel", "look", "offset_ns", "opened", "read_bytes", "reads", "steps", "unstamped")

    def __init__(self, kernel: bool = _TIMESTAMPNS is not None, look: Look | None = None) -> None:
        """`look`, the selector of the loop that reads, is told when bytes came."""
        self.kernel = kernel
        self.look = look
        self.offset_ns = realtime_offset()[0]
        self.steps = 0
        self.opened = 0
        self.reads = 0
        self.unstamped = 0
        self._sockets: WeakValueDictionary[int, StampingSocket] = WeakValueDictionary()
        self.read_bytes: int | None = None  # the most one read may bring, TLS included; None where asyncio decides
        if hasattr(asyncio.sslproto.SSLProtocol, "max_size"):
            asyncio.sslproto.SSLProtocol.max_size = self.read_bytes = READ_BYTES  # one such buffer a connection

    def recheck(self) -> None:
        """Counts a step of the wall clock and follows it."""
        offset, uncertainty = realtime_offset()
        if abs(offset - self.offset_ns) > STEP_NS + uncertainty:
            self.steps += 1
            self.offset_ns = offset

    def under(self, transport: asyncio.BaseTransport) -> StampingSocket:
        """The socket that carries `transport`, TLS or not."""
        return self._sockets[transport.get_extra_info("socket").fileno()]

    def socket(self, address: tuple[Any, ...]) -> StampingSocket:
        """A `socket_factory`: `address` is one entry of getaddrinfo."""
        family, kind, proto = address[:3]
        sock = StampingSocket(family, kind, proto)
        sock.wire = self
        self._sockets[sock.fileno()] = sock
        if self.kernel and _TIMESTAMPNS is not None:
            try:
                sock.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
            except OSError:
                self.kernel = False
        return sock


class StampingSocket(socket.socket):
    """`stamp_ns` is when the last read's bytes arrived, `sent_ns` the first send since someone set it to 0 (CLOCK_MONOTONIC)."""

    wire: Wire
    stamp_ns = 0
    sent_ns = 0

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        data, ancillary, _, _ = self.recvmsg(READ_BYTES if bufsize > READ_BYTES else bufsize, _ANCILLARY_BYTES, flags)
        if data:
            self._stamp(ancillary)
        else:
            self.stamp_ns = monotonic_ns()
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        into = memoryview(buffer)[:nbytes] if nbytes else buffer
        count, ancillary, _, _ = self.recvmsg_into([into], _ANCILLARY_BYTES, flags)
        if count:
            self._stamp(ancillary)
        else:
            self.stamp_ns = monotonic_ns()
        return count

    def _stamp(self, ancillary: list[tuple[int, int, bytes]]) -> None:
        wire = self.wire
        wire.reads += 1
        if ancillary and ancillary[0][1] == _TIMESTAMPNS:
            seconds, ns = _TIMESPEC.unpack(ancillary[0][2])
            self.stamp_ns = stamp_ns = seconds * 1_000_000_000 + ns - wire.offset_ns
            look = wire.look
            if look is not None and stamp_ns < look.earliest_ns:
                look.earliest_ns = stamp_ns
        else:
            self.stamp_ns = monotonic_ns()
            wire.unstamped += 1

    def send(self, data: Any, flags: int = 0) -> int:
        if not self.sent_ns:
            self.sent_ns = monotonic_ns()
        return super().send(data, flags)
