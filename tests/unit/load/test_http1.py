"""Responses as bytes: framing, limits, and what is no HTTP."""

from __future__ import annotations

import pytest

from sweep.load.http1 import MAX_HEAD_BYTES, Response, chunk_size

HEAD = b"HTTP/1.1 200 OK\r\nA: 1\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*parts: bytes) -> tuple[Response, bytes]:
    response = Response()
    return response, b"".join(response.feed(part) for part in parts)


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + b"Content-Length: 0\r\n\r\n", b""),
        (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (CHUNKED + b"3\r\nhel\r\n2;ext=1\r\nlo\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED + b"5\r\n\r\n\r\n\r\r\n0\r\n\r\n", b"\r\n\r\n\r"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
)
def test_bodies_split_anywhere(raw: bytes, body: bytes) -> None:
    for size in range(1, len(raw) + 1):
        response, got = read(*(raw[at : at + size] for at in range(0, len(raw), size)))
        assert (got, response.complete, response.surplus) == (body, True, False), size
        assert response.keep_alive
        response.feed(b"x")
        assert response.surplus


def test_a_body_until_close() -> None:
    response, got = read(HEAD + b"\r\nhel", b"lo")
    assert (got, response.complete, response.keep_alive) == (b"hello", False, False)
    assert response.eof()


def test_a_close_before_the_end() -> None:
    for cut in range(len(CHUNKED) + 12):
        response, _ = read((CHUNKED + b"5\r\nhello\r\n0\r\n\r\n")[:cut])
        assert not response.eof()


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"HTTP/1.1 200\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive", True),
    ],
)
def test_whether_the_connection_is_kept(head: bytes, kept: bool) -> None:
    assert read(head + b"\r\nContent-Length: 0\r\n\r\n")[0].keep_alive is kept


def test_a_folded_header_is_one_line() -> None:
    response, body = read(b"HTTP/1.1 200 OK\r\nX-A: 1,\r\n\t 2\r\nContent-Length:\r\n 2\r\n\r\nhi")
    assert (response.headers, body) == ({"x-a": "1, 2", "content-length": "2"}, b"hi")


def test_headers_are_joined_and_case_is_nothing() -> None:
    response, _ = read(b"HTTP/1.1 200 OK\r\nX-A:  1 \r\nx-a: 2\r\nContent-Length: 0\r\ncontent-length: 0\r\n\r\n")
    assert response.headers == {"x-a": "1, 2", "content-length": "0"}


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20,
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1_0\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        HEAD + b"Bad Name: 1\r\n\r\n",
        CHUNKED + b"0x5\r\nhello\r\n",
        CHUNKED + b"+5\r\nhello\r\n",
        CHUNKED + b"5 5\r\nhello\r\n",
        CHUNKED + b"\r\nhello\r\n",
        CHUNKED + b"fffffffffffffffff\r\n",
        CHUNKED + b"5\r\nhello!\r\n",
        CHUNKED + b"5\r\nhello\rx",
        CHUNKED + b"5;" + b"x" * 5000,
        CHUNKED + b"0\r\n" + b"T: x\r\n" * 200,
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * MAX_HEAD_BYTES,
    ],
)
def test_what_is_no_http(raw: bytes) -> None:
    for size in (len(raw), 3):
        with pytest.raises(ValueError):
            read(*(raw[at : at + size] for at in range(0, len(raw), size)))


def test_chunk_sizes() -> None:
    assert [chunk_size(line) for line in (b"0", b"1f", b"1F ", b"a;x=y")] == [0, 31, 31, 10]
