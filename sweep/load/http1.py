"""HTTP/1.1 responses as bytes in, body out: RFC 9112, strict where servers could hide trouble, bounded everywhere."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

MAX_HEAD_BYTES = 65_536
MAX_LINE_BYTES = 4_096  # a chunk's size and extensions; a trailer
MAX_INTERIM = 16
_STATUS = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: [^\r\n]*)?")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_FOLD = re.compile(rb"\r\n[ \t]+")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class State(IntEnum):
    HEAD, LENGTH, SIZE, CHUNK, CHUNK_END, TRAILER, UNTIL_CLOSE, DONE = range(8)


class Response:
    """One response. ValueError for whatever is no HTTP; the text says what, without quoting the server."""

    __slots__ = ("_held", "_interim", "_left", "_state", "_trailers", "headers", "keep_alive", "status", "surplus")

    def __init__(self) -> None:
        self.status: int | None = None  # once the head is complete
        self.headers: dict[str, str] = {}  # names in lower case
        self.keep_alive = True
        self.surplus = False  # bytes came after the end
        self._state = State.HEAD
        self._held = b""
        self._left = 0
        self._interim = 0
        self._trailers = 0

    @property
    def begun(self) -> bool:
        return self._state is not State.HEAD or bool(self._held) or self._interim > 0

    @property
    def complete(self) -> bool:
        return self._state is State.DONE

    def feed(self, data: bytes) -> bytes:
        """The bytes of the body that `data` brings."""
        if self._state is State.SIZE and not self._held:
            line = data.find(b"\r\n", 0, 20)
            if line > 0:  # most often a read is one whole chunk
                size = chunk_size(data[:line])
                if size and len(data) == line + size + 4 and data.endswith(b"\r\n"):
                    return data[line + 2 : -2]
        if self._held:
            data, self._held = self._held + data, b""
        body: list[bytes] = []
        at = 0
        while at < len(data):
            after = self._step(data, at, body)
            if after < 0:
                self._held = data[at:]
                break
            at = after
        return body[0] if len(body) == 1 else b"".join(body)

    def eof(self) -> bool:
        """The connection was closed; whether the response is whole."""
        if self._state is State.UNTIL_CLOSE:
            self._state = State.DONE
        return self._state is State.DONE

    def _step(self, data: bytes, at: int, body: list[bytes]) -> int:
        """Consumes one element at `at`; where the next begins, or -1 when its end has not come."""
        match self._state:
            case State.HEAD:
                return self._head(data, at)
            case State.SIZE:
                return self._chunks(data, at, body)
            case State.CHUNK | State.LENGTH:
                part = data[at : at + self._left]
                body.append(part)
                self._left -= len(part)
                if not self._left:
                    self._state = State.CHUNK_END if self._state is State.CHUNK else State.DONE
                return at + len(part)
            case State.CHUNK_END:
                if not b"\r\n".startswith(data[at : at + 2]):
                    raise ValueError("a chunk is longer than it says")
                self._state = State.SIZE if len(data) - at >= 2 else self._state
                return at + 2 if len(data) - at >= 2 else -1
            case State.TRAILER:
                end = _line_end(data, at, MAX_LINE_BYTES)
                if end >= 0:
                    self._trailers += 1
                    self._state = State.DONE if end == at else self._state
                if self._trailers > 100:
                    raise ValueError("trailers without end")
                return end + 2 if end >= 0 else -1
            case State.UNTIL_CLOSE:
                body.append(data[at:])
                return len(data)
            case State.DONE:
                self.surplus = True
                return len(data)

    def _chunks(self, data: bytes, at: int, body: list[bytes]) -> int:
        """As many whole chunks as there are, and the beginning of one that is not whole."""
        first = at
        while at < len(data):
            line = _line_end(data, at, MAX_LINE_BYTES)
            if line < 0:
                return at if at > first else -1
            size = chunk_size(data[at:line])
            begin = line + 2
            end = begin + size
            if size and data[end : end + 2] == b"\r\n":
                body.append(data[begin:end])
                at = end + 2
            else:
                self._left = size
                self._state = State.CHUNK if size else State.TRAILER
                return begin
        return at

    def _head(self, data: bytes, at: int) -> int:
        end = data.find(b"\r\n\r\n", at)
        if (end if end >= 0 else len(data)) - at > MAX_HEAD_BYTES:
            raise ValueError(f"headers of more than {MAX_HEAD_BYTES} bytes")
        if end < 0:
            if not b"HTTP/1.".startswith(data[at : at + 7]):
                raise ValueError("no HTTP")
            return -1
        first, *lines = _FOLD.sub(b" ", data[at:end]).split(b"\r\n")
        told = _STATUS.fullmatch(first)
        if told is None:
            raise ValueError("no HTTP")
        status = int(told[2])
        if status < 200:
            self._interim += 1
            if status == 101 or self._interim > MAX_INTERIM:
                raise ValueError("interim responses without a final one")
            return end + 4
        self.headers = _headers(lines)
        self.status = status
        self._frame(status, old=told[1] == b"0")
        return end + 4

    def _frame(self, status: int, old: bool) -> None:
        """How the body ends, by its headers."""
        encoding = self.headers.get("transfer-encoding")
        length = self.headers.get("content-length")
        connection = self.headers.get("connection", "").lower()
        self.keep_alive = "keep-alive" in connection if old else "close" not in connection
        if encoding is not None and length is not None:
            raise ValueError("both Transfer-Encoding and Content-Length")
        if status in (204, 304):
            self._state = State.DONE
        elif encoding is not None:
            if encoding.lower() != "chunked":
                raise ValueError("a transfer encoding other than chunked")
            self._state = State.SIZE
        elif length is not None:
            if not (length.isascii() and length.isdecimal() and len(length) < 19):
                raise ValueError("a Content-Length that is no number")
            self._left = int(length)
            self._state = State.LENGTH if self._left else State.DONE
        else:
            self._state = State.UNTIL_CLOSE
            self.keep_alive = False


@lru_cache(maxsize=4096)
def chunk_size(line: bytes) -> int:
    told = _SIZE.fullmatch(line)
    if told is None:
        raise ValueError("a chunk size that is no number")
    return int(told[1], 16)


def _line_end(data: bytes, at: int, limit: int) -> int:
    end = data.find(b"\r\n", at)
    if (end if end >= 0 else len(data)) - at > limit:
        raise ValueError("a line without end in the body's framing")
    return end


def _headers(lines: list[bytes]) -> dict[str, str]:
    """Repeated headers joined by commas; those that frame the body must agree."""
    headers: dict[str, str] = {}
    for line in lines:
        told = _HEADER.fullmatch(line)
        if told is None:
            raise ValueError("a header that is none")
        name, value = told[1].decode("ascii").lower(), told[2].decode("latin-1")
        if name not in headers:
            headers[name] = value
        elif name == "content-length":
            if headers[name] != value:
                raise ValueError("contradictory Content-Length headers")
        else:
            headers[name] = f"{headers[name]}, {value}"
    return headers
