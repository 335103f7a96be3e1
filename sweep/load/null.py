"""A server that does nothing but stream at an even pace, to learn what a worker on this machine can take."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from time import monotonic_ns
from types import TracebackType

from sweep import dialect
from sweep.dialect.sse import frame
from sweep.model import SimChunk

TICK_NS = 5_000_000
TOKENS = 128  # of every answer, whatever was asked
SPOKEN = "completions"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _chunk(*frames: tuple[str | None, bytes]) -> bytes:
    data = b"".join(frame(*each) for each in frames)
    return b"%x\r\n%b\r\n" % (len(data), data)


class NullServer:
    """As a context manager: its URL, served by a thread. Every stream gets one token a tick."""

    def __init__(self) -> None:
        speech = dialect.get(SPOKEN)
        self._token = _chunk(speech.chunk("r", "null", SimChunk(text=" tok")))
        self._end = _chunk(*speech.closing("r", "null", "length", None)) + b"0\r\n\r\n"
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._left: dict[socket.socket, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _serve(self) -> None:
        due_ns = monotonic_ns()
        while not self._over.is_set():
            for key, _ in self._selector.select(max(0, due_ns - monotonic_ns()) / 1e9):
                assert isinstance(key.fileobj, socket.socket)
                with contextlib.suppress(OSError):
                    self._attend(key.fileobj)
            if monotonic_ns() >= due_ns:
                self._tick()
                due_ns += TICK_NS

    def _attend(self, sock: socket.socket) -> None:
        if sock is self._listener:
            accepted, _ = sock.accept()
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(accepted, selectors.EVENT_READ)
        elif sock.recv(65_536):  # a request of ours is small: one read brings it
            sock.send(_HEAD)
            self._left[sock] = TOKENS
        else:
            self._selector.unregister(sock)
            self._left.pop(sock, None)
            sock.close()

    def _tick(self) -> None:
        for sock, left in list(self._left.items()):
            with contextlib.suppress(OSError):
                sock.send(self._token if left > 1 else self._token + self._end)
            if left > 1:
                self._left[sock] = left - 1
            else:
                del self._left[sock]
