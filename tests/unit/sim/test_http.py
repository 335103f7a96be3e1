from __future__ import annotations

import asyncio

import pytest

from sweep.sim.http import Connection, Request, chunk, head, whole


class Wire(asyncio.Transport):
    """What a connection writes, kept."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def set_write_buffer_limits(self, high=None, low=None) -> None:
        pass


def served(*pieces: bytes, answer: bytes = b"") -> tuple[list[Request], Wire]:
    requests: list[Request] = []

    def handle(connection: Connection, request: Request) -> None:
        requests.append(request)
        connection.write(answer)
        connection.done()

    connection, wire = Connection(handle), Wire()
    connection.connection_made(wire)
    for piece in pieces:
        connection.data_received(piece)
    return requests, wire


FIXED = b"POST /v1/x HTTP/1.1\r\nHost: a\r\nX-Request-Id: 7-r\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"hel") + chunk(b"lo") + b"0\r\n\r\n"


@pytest.mark.parametrize("raw", [FIXED, CHUNKED])
def test_a_request_may_come_in_any_pieces(raw):
    for cut in range(1, len(raw)):
        requests, _ = served(raw[:cut], raw[cut:])
        assert [request.body for request in requests] == [b"hello"]
    requests, _ = served(*(raw[n : n + 1] for n in range(len(raw))))
    assert [(request.method, request.path, request.body) for request in requests] == [("POST", "/v1/x", b"hello")]


def test_headers_are_found_whatever_their_case():
    (request,), _ = served(FIXED)
    assert request.headers["x-request-id"] == "7-r"


def test_requests_on_one_connection_are_answered_in_turn():
    requests, wire = served(FIXED + CHUNKED + FIXED, answer=b"x")
    assert len(requests) == 3
    assert wire.sent == b"xxx"


def test_a_client_that_wants_to_close_is_closed():
    _, wire = served(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert wire.closed


def test_a_client_that_asks_before_it_sends_is_told_to_go_on():
    _, wire = served(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", b"hello")
    assert wire.sent == b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize("raw", [b"nonsense\r\n\r\n", b"GET / SPDY/3\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"])
def test_what_is_not_http_gets_a_400(raw):
    requests, wire = served(raw)
    assert not requests
    assert wire.sent.startswith(b"HTTP/1.1 400 Bad Request")
    assert wire.closed


def test_a_whole_answer_says_how_long_it_is():
    raw = whole(429, b"{}", Retry_After="1")
    assert raw.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"Content-Length: 2\r\n" in raw
    assert b"Retry-After: 1\r\n" in raw
    assert head(200, {}).endswith(b"\r\n\r\n")
