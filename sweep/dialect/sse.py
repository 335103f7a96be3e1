"""Server-sent events as bytes: the grammar of the WHATWG EventSource specification, split anywhere.

Only `data` matters here: dialects that name their events repeat the name inside the data.
"""

from __future__ import annotations

MAX_EVENT_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Splitter:
    """Turns the reads of one stream into the data of its events.

    Lines end in LF, CR or CRLF, mixed at will. An event is complete at its blank line; what an unterminated stream leaves is
    `tail()`. A line or an event's data beyond `max_event_bytes` raises ValueError; that bounds what is held between reads.
    """

    __slots__ = ("_after_cr", "_data", "_head", "_line", "max_event_bytes")

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.max_event_bytes = max_event_bytes
        self._head: bytes | None = b""  # first bytes, while they may still be a byte order mark
        self._line = bytearray()  # a line whose end has not come
        self._data = bytearray()  # data lines, each with LF, of an event whose blank line has not come
        self._after_cr = False  # the last byte was CR: a LF that follows belongs to it

    def feed(self, data: bytes) -> list[bytes]:
        """Data of the events that `data` completes, their lines joined by LF. ValueError beyond `max_event_bytes`."""
        events: list[bytes] = []
        if self._head is not None:
            data = self._without_bom(data)
        if len(data) > self.max_event_bytes:
            self._feed_lines(data, events)
            return events
        blank = b"\n\n"
        end = data.rfind(blank) + len(blank)
        if end < len(blank):
            blank = b"\r\n\r\n"
            end = data.rfind(blank) + len(blank)
            if end < len(blank):
                self._feed_lines(data, events)
                return events
        begin = 0
        if self._line or self._data or self._after_cr:
            begin = data.index(blank) + len(blank)
            self._feed_lines(data[:begin], events)
        if begin < end:  # nothing is held after a blank line: whole events stand here
            plain = _plain_events(data[begin:end], blank)
            if plain is None:
                self._feed_lines(data[begin:end], events)
            else:
                events += plain
        if end < len(data):
            self._feed_lines(data[end:], events)
        return events

    def tail(self) -> bytes | None:
        """Data of the event left unterminated at the end of the stream, its last line included; None when there is none."""
        last = _data_of(bytes(self._line))
        if last is not None:
            return bytes(self._data) + last
        return bytes(self._data[:-1]) if self._data else None

    @property
    def pending(self) -> int:
        """Bytes held for an event that is not complete."""
        return len(self._head or b"") + len(self._line) + len(self._data)

    def _without_bom(self, data: bytes) -> bytes:
        data = (self._head or b"") + data
        if _BOM.startswith(data):
            self._head = data
            return b""
        self._head = None
        return data.removeprefix(_BOM)

    def _feed_lines(self, data: bytes, events: list[bytes]) -> None:
        """The grammar line by line: exact whatever is held, and linear in the bytes fed."""
        if not data:
            return
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        for piece in data.splitlines(keepends=True):
            text = piece.rstrip(b"\r\n")
            self._line += text
            if len(self._line) > self.max_event_bytes:
                raise ValueError(f"a line of more than {self.max_event_bytes} bytes in an event stream")
            if len(text) < len(piece):
                self._end_line(events)

    def _end_line(self, events: list[bytes]) -> None:
        line = bytes(self._line)
        self._line.clear()
        if line:
            value = _data_of(line)
            if value is not None:
                self._data += value + b"\n"
            if len(self._data) > self.max_event_bytes + 1:
                raise ValueError(f"an event of more than {self.max_event_bytes} bytes in an event stream")
        elif self._data:
            events.append(bytes(self._data[:-1]))
            self._data.clear()


def _plain_events(data: bytes, blank: bytes) -> list[bytes] | None:
    """The events of `data`, which ends in `blank`, when each is one line `data: …`; None when anything else stands there.

    This is the path of nearly every read, and it costs no Python step an event: cut at every `blank` that a data line
    follows, then count line ends to see that none is left inside.
    """
    if not data.startswith(b"data: "):
        return None
    events = data[6 : -len(blank)].split(blank + b"data: ")
    ends = 2 * len(events)
    if data.count(b"\n") != ends:
        return None
    plain = b"\r" not in data if blank == b"\n\n" else data.count(b"\r") == ends
    return events if plain else None


def _data_of(line: bytes) -> bytes | None:
    """The value of a `data` line; None for comments, other fields and no line at all."""
    if line.startswith(b"data:"):
        return line[6:] if line.startswith(b"data: ") else line[5:]
    return b"" if line == b"data" else None


def frame(event: str | None, data: bytes, *, newline: bytes = b"\n", space: bool = True) -> bytes:
    """One event on the wire. `data` may hold LF but no CR; without `space` nothing stands between colon and value."""
    colon = b": " if space else b":"
    lines = [b"event" + colon + event.encode()] if event else []
    lines += [b"data" + (b": " if line.startswith(b" ") else colon) + line for line in data.split(b"\n")]
    return newline.join([*lines, b"", b""])
