"""The least a Python client can do: epoll, read, count. What ours costs beyond it is what understanding the answers costs.

python -m bench.floor PORT STREAMS OSL SECONDS     prints {"events_per_s", "requests_per_s", "cpu_s"} of the second half
"""

from __future__ import annotations

import json
import select
import socket
import sys
from time import monotonic, process_time

END = b"0\r\n\r\n"


def drive(port: int, streams: int, osl: int, seconds: float) -> dict[str, float]:
    """A closed loop of `streams`, its reads not stamped, its events counted and not understood."""
    body = b'{"model":"reference","prompt":"hello","max_tokens":%d,"stream":true}' % osl
    request = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: 0-f\r\nContent-Length: %d\r\n\r\n" % len(body)
    socks: dict[int, socket.socket] = {}
    epoll = select.epoll()
    for _ in range(streams):
        sock = socket.create_connection(("127.0.0.1", port))
        socks[sock.fileno()] = sock
        epoll.register(sock, select.EPOLLIN)
        sock.send(request + body)
    began, half, cpu_s = monotonic(), False, process_time()
    events = requests = 0
    since = began
    while (now := monotonic()) < began + seconds:
        if not half and now >= began + seconds / 2:
            half, events, requests, since, cpu_s = True, 0, 0, now, process_time()
        for fd, _ in epoll.poll(0.1):
            data = socks[fd].recv(65_536)
            events += data.count(b"\n\n")
            if data.endswith(END):
                requests += 1
                socks[fd].send(request + body)
    spent_s, passed_s = process_time() - cpu_s, monotonic() - since
    events -= requests  # the end mark is none
    return {
        "events_per_s": events / passed_s,
        "requests_per_s": requests / passed_s,
        "cpu_us_per_event": spent_s / events * 1e6,
    }


if __name__ == "__main__":
    port, streams, osl, seconds = sys.argv[1:]
    print(json.dumps(drive(int(port), int(streams), int(osl), float(seconds))))
