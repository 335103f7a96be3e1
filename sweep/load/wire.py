"""When bytes left and arrived: sockets that stamp themselves, handed to aiohttp through `socket_factory`.

A read takes the kernel's receive stamp (SO_TIMESTAMPNS), so a time does not depend on how busy this process is; where the
kernel gives none it is the monotonic clock right after the read. A send is stamped before its first byte is handed over.

This is the only seam between the client and the transport: whoever replaces it must keep `Exchange` filled.
"""

from __future__ import annotations

import asyncio.sslproto
import socket
import struct
import sys
from contextvars import ContextVar
from time import clock_gettime_ns, monotonic_ns
from typing import Any

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

READ_BYTES = 65_536  # a larger buffer makes the allocator map and unmap memory for every read
STEP_NS = 50_000  # realtime moved against monotonic by more than reading both clocks explains

_TIMESTAMPNS = 35 if sys.platform == "linux" else None  # asm-generic/socket.h; not in the socket module
_TIMESPEC = struct.Struct("@ll")
_ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0


class Exchange:
    """What the wire knows about one request: filled by the socket that carries it."""

    __slots__ = ("connected_ns", "reads_before", "reused", "sent_ns", "sock")

    def __init__(self) -> None:
        self.sock: StampingSocket | None = None
        self.connected_ns: int | None = None  # when a fresh connection was ready, TLS included
        self.sent_ns: int | None = None
        self.reused = True  # until a socket is made for it
        self.reads_before = 0

    @property
    def answered(self) -> bool:
        """At least one byte came back since the request was sent."""
        return self.sock is not None and self.sock.reads > self.reads_before

    def heard_ns(self) -> int | None:
        """The stamp of the last read, once something was sent."""
        return self.sock.stamp_ns if self.sock is not None and self.answered else self.sent_ns


CURRENT: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


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

    __slots__ = ("kernel", "offset_ns", "opened", "reads", "steps", "unstamped")

    def __init__(self, kernel: bool = _TIMESTAMPNS is not None) -> None:
        self.kernel = kernel
        self.offset_ns = realtime_offset()[0]
        self.steps = 0
        self.opened = 0
        self.reads = 0
        self.unstamped = 0
        if hasattr(asyncio.sslproto.SSLProtocol, "max_size"):
            asyncio.sslproto.SSLProtocol.max_size = READ_BYTES  # one such buffer a connection

    def recheck(self) -> None:
        """Counts a step of the wall clock and follows it."""
        offset, uncertainty = realtime_offset()
        if abs(offset - self.offset_ns) > STEP_NS + uncertainty:
            self.steps += 1
            self.offset_ns = offset

    def socket(self, address: tuple[Any, ...]) -> StampingSocket:
        """A `socket_factory`: `address` is one entry of getaddrinfo."""
        family, kind, proto = address[:3]
        sock = StampingSocket(family, kind, proto)
        sock.wire = self
        self.opened += 1
        exchange = CURRENT.get()
        if exchange is not None:
            exchange.reused = False
        if self.kernel and _TIMESTAMPNS is not None:
            try:
                sock.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
            except OSError:
                self.kernel = False
        return sock


class StampingSocket(socket.socket):
    """`stamp_ns` is when the last read's bytes arrived (CLOCK_MONOTONIC), `reads` how many reads brought any."""

    wire: Wire
    stamp_ns = 0
    reads = 0

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        data, ancillary, _, _ = self.recvmsg(READ_BYTES if bufsize > READ_BYTES else bufsize, _ANCILLARY_BYTES, flags)
        if data:
            self.reads += 1
            self._stamp(ancillary)
        else:
            self.stamp_ns = monotonic_ns()
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        into = memoryview(buffer)[:nbytes] if nbytes else buffer
        count, ancillary, _, _ = self.recvmsg_into([into], _ANCILLARY_BYTES, flags)
        if count:
            self.reads += 1
            self._stamp(ancillary)
        else:
            self.stamp_ns = monotonic_ns()
        return count

    def _stamp(self, ancillary: list[tuple[int, int, bytes]]) -> None:
        wire = self.wire
        wire.reads += 1
        if ancillary and ancillary[0][1] == _TIMESTAMPNS:
            seconds, ns = _TIMESPEC.unpack(ancillary[0][2])
            self.stamp_ns = seconds * 1_000_000_000 + ns - wire.offset_ns
        else:
            self.stamp_ns = monotonic_ns()
            wire.unstamped += 1

    def send(self, data: Any, flags: int = 0) -> int:
        exchange = CURRENT.get()
        if exchange is not None and exchange.sent_ns is None:
            exchange.sock = self
            exchange.reads_before = self.reads
            exchange.sent_ns = monotonic_ns()
        return super().send(data, flags)


class StampingConnector(aiohttp.TCPConnector):
    """Pools stamping sockets and tells the current exchange whether its connection is fresh."""

    def __init__(self, wire: Wire, **options: Any) -> None:
        super().__init__(limit=0, socket_factory=wire.socket, **options)

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout) -> Connection:
        connection = await super().connect(req, traces, timeout)
        exchange = CURRENT.get()
        if exchange is not None:
            if not exchange.reused:
                exchange.connected_ns = monotonic_ns()
            exchange.sent_ns = None  # what a TLS handshake or a proxy's CONNECT sent is not the request
        return connection
