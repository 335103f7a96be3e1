"""HTTP/1.1 as much as an endpoint needs: requests in, heads and chunks out, the socket within reach for faults."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic_ns
from typing import cast

import sweep

SERVER = f"Server: sweep-sim/{sweep.__version__}"
MAX_HEAD_BYTES = 65536
MAX_BODY_BYTES = 256 * 1024 * 1024
READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Request:
    """`headers` by lower-case name; `arrival_ns` is when its last byte had been read."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    arrival_ns: int


class BadRequest(ValueError):
    pass


def head(status: int, headers: dict[str, str]) -> bytes:
    """Status line and headers."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", SERVER, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(status: int, body: bytes, content_type: str = "application/json", **more: str) -> bytes:
    """A complete answer. Underscores in the names of `more` become hyphens."""
    extra = {name.replace("_", "-"): value for name, value in more.items()}
    return head(status, {"Content-Type": content_type, "Content-Length": str(len(body)), **extra}) + body


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"

Handler = Callable[["Connection", Request], None]


class Connection(asyncio.Protocol):
    """One client's connection: hands over one request at a time and waits for `done` before the next."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._buffer = bytearray()
        self._busy = False
        self._last = False  # the client asked to close after this answer
        self._continued = False
        self._transport: asyncio.Transport | None = None
        self.gone: Callable[[], None] | None = None  # called when the client leaves before the answer is complete

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=1 << 30)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self.gone:
            self.gone()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self._next()

    def write(self, data: bytes) -> None:
        if self._transport:
            self._transport.write(data)

    def done(self) -> None:
        """The answer is complete."""
        self.gone = None
        if self._last:
            self.close()
            return
        self._busy = False
        if self._buffer:
            self._next()

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """Close at once, whatever is still to be written."""
        if self._transport:
            self._transport.abort()

    def reset(self) -> None:
        """End with RST instead of FIN."""
        if self._transport:
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.abort()

    def _next(self) -> None:
        try:
            request = self._parse()
        except (BadRequest, ValueError) as error:
            self.write(whole(400, str(error).encode(), "text/plain", Connection="close"))
            self.close()
            return
        if request:
            self._busy = True
            self._last = request.headers.get("connection", "").lower() == "close"
            self._continued = False
            self._handler(self, request)

    def _parse(self) -> Request | None:
        """The first request in the buffer, taken out of it; None until it is complete."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise BadRequest("request head too long")
            return None
        first, *rest = self._buffer[:end].decode("latin-1").split("\r\n")
        method, path, version = first.split(" ", 2)
        if not version.startswith("HTTP/1."):
            raise BadRequest("not HTTP/1")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        if headers.get("expect", "").lower() == "100-continue" and not self._continued:
            self._continued = True
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" in headers.get("transfer-encoding", "").lower():
            whole_body = _unchunk(self._buffer, end + 4)
            if whole_body is None:
                return None
            body, used = whole_body
        else:
            length = int(headers.get("content-length", "0"))
            if not 0 <= length <= MAX_BODY_BYTES:
                raise BadRequest("bad content-length")
            used = end + 4 + length
            if len(self._buffer) < used:
                return None
            body = bytes(self._buffer[end + 4 : used])
        del self._buffer[:used]
        return Request(method, path, headers, body, monotonic_ns())


def _unchunk(buffer: bytearray, at: int) -> tuple[bytes, int] | None:
    """(body, end) of the chunked body that begins at `at`; None until it is complete."""
    body = bytearray()
    while (line_end := buffer.find(b"\r\n", at)) >= 0:
        size = int(bytes(buffer[at:line_end]).split(b";")[0], 16)
        at = line_end + 2 + size + 2
        if len(body) + size > MAX_BODY_BYTES:
            raise BadRequest("body too long")
        if len(buffer) < at:
            return None
        if not size:
            return bytes(body), at
        body += buffer[line_end + 2 : at - 2]
    return None
