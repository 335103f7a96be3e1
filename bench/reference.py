"""A reference server whose true send times are known: Python, one thread, epoll, a heap of due events.

    python -m bench.reference [--itl-ms 10] [--ttft-ms 20] [--jitter 0.5] [--lockstep] [--tls CERT.pem] [--truth FILE.npy]

It prints its port, streams completions, and at SIGTERM writes one row an event: request, number within the answer, and the
CLOCK_MONOTONIC ns just before its send(2). Late sends are no error of the client, since truth is when they were really sent.
Without --itl-ms every stream gets an event in turn as fast as one core can. Limits: about 25 µs a paced event, so a core is
full near 40,000 events/s; flat out about 10 µs an event; some 15,000 requests/s.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import random
import select
import signal
import socket
import ssl
from collections import deque
from time import monotonic_ns

import numpy as np

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = (
    b'data: {"id":"cmpl-0","object":"text_completion","created":0,"model":"reference","choices":'
    b'[{"index":0,"text":" token","logprobs":null,"finish_reason":%b}]}\n\n'
)
DONE = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


TOKEN = chunk(EVENT % b"null")
END = chunk(EVENT % b'"length"' + DONE) + b"0\r\n\r\n"


class Stream:
    """One connection: what it was sent so far, how its request goes on."""

    __slots__ = ("heard", "left", "number", "request", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.heard = b""
        self.request = self.number = self.left = 0


class Server:
    def __init__(self, options: argparse.Namespace) -> None:
        self.ttft_ns = round(options.ttft_ms * 1e6)
        self.itl_ns = round(options.itl_ms * 1e6)
        self.jitter = options.jitter
        self.lockstep = options.lockstep
        self.random = random.Random(0)
        self.context: ssl.SSLContext | None = None
        if options.tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(options.tls)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)
        self.streams: dict[int, Stream] = {}
        self.due: list[tuple[int, int, Stream]] = []
        self.flat_out: deque[Stream] = deque()
        self.order = 0
        self.truth: list[tuple[int, int, int]] | None = [] if options.truth else None
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            wait_s = max(0, self.due[0][0] - monotonic_ns()) / 1e9 if self.due else 0.0 if self.flat_out else 0.1
            for fd, _ in self.epoll.poll(min(wait_s, 0.1)):
                if fd == self.listener.fileno():
                    self._accept()
                else:
                    self._hear(self.streams[fd])
            while self.due and self.due[0][0] <= monotonic_ns():
                self._tell(heapq.heappop(self.due)[2])
            for _ in range(len(self.flat_out)):
                self._tell(self.flat_out.popleft())

    def _accept(self) -> None:
        sock, _ = self.listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.context is not None:
            try:
                sock = self.context.wrap_socket(sock, server_side=True)
            except OSError:
                return
        self.streams[sock.fileno()] = Stream(sock)
        self.epoll.register(sock.fileno(), select.EPOLLIN)

    def _hear(self, stream: Stream) -> None:
        try:
            data = stream.sock.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            self._forget(stream)
            return
        stream.heard += data
        head, _, body = stream.heard.partition(b"\r\n\r\n")
        lower = head.lower()
        if b"content-length: " not in lower or len(body) < int(lower.split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        stream.heard = b""
        number = lower.partition(b"x-request-id: ")[2].partition(b"-")[0]
        stream.request = int(number) if number.isdigit() else 0
        stream.left = int(body.split(b'"max_tokens":')[1].split(b",")[0].rstrip(b"}"))
        stream.number = 0
        self._send(stream, HEAD)
        self._plan(stream, monotonic_ns() + self.ttft_ns)

    def _plan(self, stream: Stream, at_ns: int) -> None:
        if not self.itl_ns and not (self.ttft_ns and stream.number == 0):
            self.flat_out.append(stream)
            return
        if self.lockstep:
            at_ns = -(-at_ns // self.itl_ns) * self.itl_ns
        self.order += 1
        heapq.heappush(self.due, (at_ns, self.order, stream))

    def _tell(self, stream: Stream) -> None:
        if stream.left == 0:
            return
        stream.left -= 1
        before_ns = monotonic_ns()
        self._send(stream, TOKEN if stream.left else END)
        if self.truth is not None:
            self.truth.append((stream.request, stream.number, before_ns))
        stream.number += 1
        if stream.left:
            factor = 1 + self.jitter * (2 * self.random.random() - 1) if self.jitter else 1.0
            self._plan(stream, before_ns + (round(self.itl_ns * factor) if not self.lockstep else 1))

    def _send(self, stream: Stream, data: bytes) -> None:
        try:
            stream.sock.sendall(data)
        except OSError:
            self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        stream.left = 0
        fd = stream.sock.fileno()
        if fd >= 0:
            with contextlib.suppress(OSError):
                self.epoll.unregister(fd)
            self.streams.pop(fd, None)
            stream.sock.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ttft-ms", type=float, default=0)
    parser.add_argument("--itl-ms", type=float, default=0)
    parser.add_argument("--jitter", type=float, default=0)
    parser.add_argument("--lockstep", action="store_true")
    parser.add_argument("--tls")
    parser.add_argument("--truth")
    options = parser.parse_args()
    server = Server(options)

    def end(*_: object) -> None:
        server.ended = True

    signal.signal(signal.SIGTERM, end)
    print(server.listener.getsockname()[1], flush=True)
    server.run()
    if server.truth is not None:
        np.save(options.truth, np.array(server.truth, np.int64).reshape(-1, 3))


if __name__ == "__main__":
    main()
