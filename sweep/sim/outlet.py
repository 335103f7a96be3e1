"""The bytes of one streamed answer on their way out: chunked, compressed or held back where a fault wills it."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from time import monotonic_ns

from sweep.sim import http
from sweep.sim.truth import Row

SPLIT_S = 0.0005
SLOW_HEAD_S = 0.5
SLOW_HEAD_PIECES = 5
ENCODINGS = {"gzip": 31, "deflate": 15}  # zlib's wbits


class Outlet:
    """Writes what it is given, in order, and notes in the row when. `ended` is called once the last of it was written."""

    def __init__(self, connection: http.Connection, row: Row, cut: Callable[[int], int], ended: Callable[[], None]) -> None:
        """`cut`: after how many of so many bytes the fault `split` strikes."""
        self._connection = connection
        self._row = row
        self._faults = frozenset(row.faults)
        self._cut = cut
        self._ended = ended
        self._held: list[tuple[bytes, int, bool]] | None = None  # (bytes, tokens, last) that wait, in order
        self._loop = asyncio.get_running_loop()
        encoding = next((name for name in ENCODINGS if name in self._faults), None)
        self._deflate = zlib.compressobj(wbits=ENCODINGS[encoding]) if encoding else None
        self._write_head(encoding)

    def send(self, events: bytes, tokens: int, last: bool) -> None:
        """Events that hold so many tokens; after the `last` nothing more is sent."""
        if self._deflate:
            events = self._deflate.compress(events) + self._deflate.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
        data = http.chunk(events) if events else b""
        if last:
            data += http.LAST_CHUNK
        if "split" in self._faults and self._held is None and len(data) > 1:
            cut = self._cut(len(data))
            self._connection.write(data[:cut])
            data = data[cut:]
            self.hold(SPLIT_S)
        if self._held is None:
            self._write(data, tokens, last)
        else:
            self._held.append((data, tokens, last))

    def hold(self, seconds: float) -> None:
        """What is sent from now on waits so long; no effect while something waits already."""
        if self._held is None:
            self._held = []
            self._loop.call_later(seconds, self._let_go)

    def forget(self) -> None:
        """What waits is never written."""
        self._held = []

    def _write_head(self, encoding: str | None) -> None:
        kind = "text/html" if "wrong_type" in self._faults else "text/event-stream; charset=utf-8"
        headers = {"Content-Type": kind, "Transfer-Encoding": "chunked", "Cache-Control": "no-cache"}
        if encoding:
            headers["Content-Encoding"] = encoding
        head = http.head(200, headers)
        if "slow_headers" not in self._faults:
            self._connection.write(head)
            return
        width = -(-len(head) // SLOW_HEAD_PIECES)
        pause_s = SLOW_HEAD_S / SLOW_HEAD_PIECES
        for piece in range(SLOW_HEAD_PIECES):
            part = head[piece * width : (piece + 1) * width]
            self._loop.call_later((piece + 1) * pause_s, self._connection.write, part)
        self.hold(SLOW_HEAD_S + pause_s / 2)

    def _let_go(self) -> None:
        waiting, self._held = self._held or [], None
        for data, tokens, last in waiting:
            self._write(data, tokens, last)

    def _write(self, data: bytes, tokens: int, last: bool) -> None:
        began_ns = monotonic_ns()
        self._connection.write(data)
        if tokens:
            self._row.wrote(began_ns, monotonic_ns(), tokens)
        if last:
            self._ended()
