"""Events that differ from an understood one in nothing but the text of their token need no parsing.

A shape is what stands before and after the text in one decoded token event. An event with the same bytes around another
non-empty JSON string is the same JSON with another text: one token of the same channel. Anything else is parsed, text beyond
ASCII too, since it may be no valid UTF-8.
"""

from __future__ import annotations

from sweep.model import Event

TEXT_KEYS = frozenset({b"content", b"text", b"reasoning", b"reasoning_content"})


class Shape:
    __slots__ = ("_answer", "_head", "_read_head", "_read_tail", "_shortest", "_tail")

    def __init__(self) -> None:
        self._answer: bool | None = None
        self._head = self._tail = self._read_head = self._read_tail = b""
        self._shortest = 1 << 62

    def learn(self, data: bytes, event: Event) -> None:
        """Takes the shape of `data`, which decoded to `event`, when it is a bare token with one text and no escapes."""
        if event.usage or event.finish or event.token_ids or event.error or event.done or b"\\" in data or b"\n" in data:
            return
        parts = data.split(b'"')
        texts = [
            place
            for place in range(3, len(parts) - 1, 2)
            if parts[place] and parts[place - 1].strip() == b":" and parts[place - 2] in TEXT_KEYS
        ]
        if len(texts) != 1:
            return
        place = texts[0]
        self._answer = event.answer
        self._head = b'"'.join(parts[:place]) + b'"'
        self._tail = b'"' + b'"'.join(parts[place + 1 :])
        self._read_head = b"data: " + self._head
        self._read_tail = self._tail + b"\n\n"
        self._shortest = len(self._head) + len(self._tail)

    def event(self, data: bytes) -> bool | None:
        """Whether this token belongs to the answer; None when `data` has to be parsed."""
        if len(data) > self._shortest and data.startswith(self._head) and data.endswith(self._tail):
            text = data[len(self._head) : len(data) - len(self._tail)]
            if b'"' not in text and b"\\" not in text and text.isascii():
                return self._answer
        return None

    def single(self, read: bytes) -> bool | None:
        """The same for a read that is exactly one event."""
        if len(read) > self._shortest + 8 and read.startswith(self._read_head) and read.endswith(self._read_tail):
            text = read[len(self._read_head) : len(read) - len(self._read_tail)]
            if b'"' not in text and b"\\" not in text and b"\n" not in text and b"\r" not in text and text.isascii():
                return self._answer
        return None
