"""One streamed answer on its way out: tokens become chunks, and faults strike here."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

import msgspec

from sweep.dialect import Dialect, Frame, sse
from sweep.model import SimAsk, SimChunk, Usage
from sweep.sim import http
from sweep.sim.faults import Faults
from sweep.sim.tokens import TOKEN_TEXT
from sweep.sim.truth import Row

SPLIT_S = 0.0005
SLOW_HEAD_S = 0.5
SLOW_HEAD_PIECES = 5
HUGE_BYTES = 1 << 20
MULTI_TOKENS = 4
MIDWAY = ("error_event", "truncated", "reset")
ENCODINGS = {"gzip": 31, "deflate": 15}  # zlib's wbits


@dataclass(frozen=True, slots=True)
class Manner:
    """How every answer is streamed."""

    model: str
    stream_interval: int
    reasoning: float
    stall_s: float
    faults: Faults


class Reply:
    """Writes one answer. `ended` is called once, when nothing more will be written; `drop` when tokens are no longer wanted."""

    def __init__(
        self,
        connection: http.Connection,
        dialect: Dialect,
        ask: SimAsk,
        row: Row,
        manner: Manner,
        ended: Callable[[Reply], None],
        drop: Callable[[], None],
    ) -> None:
        self.row = row
        self.finished = False
        self._connection = connection
        self._dialect = dialect
        self._ask = ask
        self._manner = manner
        self._ended = ended
        self._drop = drop
        self._id = f"sim-{row.request}"
        self._faults = frozenset(row.faults)
        self._interval = max(manner.stream_interval, MULTI_TOKENS if "multi_token" in self._faults else 1)
        self._newline = b"\r\n" if "crlf" in self._faults else b"\n"
        self._space = "no_space" not in self._faults
        self._comment = b": keep-alive" + self._newline * 2 if "comments" in self._faults else b""
        self._strike = manner.faults.place(row.key, row.osl)  # tokens before the fault that strikes midway
        self._struck = False
        self._reasoning = round(manner.reasoning * row.osl)
        self._made = 0  # tokens made by the engine
        self._told = 0  # tokens written
        self._opened = False
        self._later: list[tuple[bytes, int, bool]] | None = None  # (bytes, tokens, last) that wait, in order
        self._loop = asyncio.get_running_loop()
        encoding = next((name for name in ENCODINGS if name in self._faults), None)
        self._deflate = zlib.compressobj(wbits=ENCODINGS[encoding]) if encoding else None
        self._write_head(encoding)

    # --- what the engine tells -----------------------------------------------------------------------------------

    def emit(self, tokens: int, last: bool) -> None:
        """The engine made tokens; `last`: there will be no more."""
        self._made += tokens
        if self.finished or "hung" in self._faults:
            return
        if self._faults and not self._struck and self._made > self._strike and self._strike_midway():
            return
        if last or self._made - self._told >= self._interval or not self._told:
            fresh = self._made - self._told
            frames = self._opening() + self._chunks(fresh)
            self._told = self._made
            if last:
                frames += self._closing()
            self._send(b"".join(map(self._framed, frames)), fresh, last)
        if last and self._later is None:
            self._end()

    def leave(self) -> None:
        """The client left."""
        if not self.finished:
            self.row.outcome = "left"
            self._drop()
            self._end(clean=False)

    # --- events ---------------------------------------------------------------------------------------------------

    def _framed(self, frame: Frame) -> bytes:
        return self._comment + sse.frame(*frame, newline=self._newline, space=self._space)

    def _opening(self) -> list[Frame]:
        if self._opened:
            return []
        self._opened = True
        return self._dialect.opening(self._id, self._manner.model)

    def _chunks(self, fresh: int) -> list[Frame]:
        frames = []
        if "empty_deltas" in self._faults:
            frames.append(self._chunk("", 0, False))
        thinking = min(fresh, max(0, self._reasoning - self._told))
        if thinking:
            frames.append(self._chunk(TOKEN_TEXT * thinking, thinking, True))
            self._told += thinking
        if fresh > thinking:
            text = TOKEN_TEXT * (fresh - thinking)
            if "huge_event" in self._faults and self._told <= self._strike < self._made:
                text += "x" * HUGE_BYTES
            frames.append(self._chunk(text, fresh - thinking, False))
        return frames

    def _chunk(self, text: str, tokens: int, reasoning: bool) -> Frame:
        usage = self._usage(self._told + tokens) if self._ask.continuous_usage else None
        with_ids = self._ask.return_token_ids and "no_usage" not in self._faults
        said = SimChunk(text=text, tokens=tokens, usage=usage, reasoning=reasoning, with_ids=with_ids)
        return self._dialect.chunk(self._id, self._manner.model, said)

    def _usage(self, told: int) -> Usage | None:
        if "no_usage" in self._faults:
            return None
        return Usage(
            prompt_tokens=self.row.prompt_tokens,
            completion_tokens=told,
            reasoning_tokens=min(told, self._reasoning) if self._reasoning else None,
            cached_tokens=self.row.cached_tokens,
        )

    def _closing(self) -> list[Frame]:
        usage = self._usage(self._made) if self._ask.include_usage else None
        finish = "stop" if "early_stop" in self._faults else "length"
        frames = self._dialect.closing(self._id, self._manner.model, finish, usage)
        return _usage_in_finish(frames) if "usage_in_finish" in self._faults else frames

    # --- faults ---------------------------------------------------------------------------------------------------

    def _strike_midway(self) -> bool:
        """The faults of the middle of the stream; True when it was the end of the answer."""
        self._struck = True
        if "stall" in self._faults and self._later is None:
            self._later = []
            self._loop.call_later(self._manner.stall_s, self._flush)
        fault = next((kind for kind in MIDWAY if kind in self._faults), None)
        if fault is None:
            return False
        self.row.outcome = fault
        self._drop()
        if fault == "reset":
            self._connection.reset()
            self._end(clean=False)
            return True
        if fault == "error_event":
            self._send(self._framed((None, self._dialect.failure("the simulated engine died", 500))), 0, True)
        else:
            self._send(b"", 0, True)
        if self._later is None:
            self._end()
        return True

    # --- bytes ----------------------------------------------------------------------------------------------------

    def _write_head(self, encoding: str | None) -> None:
        kind = "text/html" if "wrong_type" in self._faults else "text/event-stream; charset=utf-8"
        headers = {"Content-Type": kind, "Transfer-Encoding": "chunked", "Cache-Control": "no-cache"}
        if encoding:
            headers["Content-Encoding"] = encoding
        head = http.head(200, headers)
        if "slow_headers" in self._faults:
            self._later = []
            width = -(-len(head) // SLOW_HEAD_PIECES)
            pause_s = SLOW_HEAD_S / SLOW_HEAD_PIECES
            for piece in range(SLOW_HEAD_PIECES):
                part = head[piece * width : (piece + 1) * width]
                self._loop.call_later((piece + 1) * pause_s, self._connection.write, part)
            self._loop.call_later(SLOW_HEAD_S + pause_s / 2, self._flush)
        else:
            self._connection.write(head)
        if "role_only" in self._faults:
            self._send(b"".join(map(self._framed, self._opening())), 0, False)

    def _send(self, events: bytes, tokens: int, last: bool) -> None:
        if self._deflate:
            events = self._deflate.compress(events) + self._deflate.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
        data = http.chunk(events) if events else b""
        if last:
            data += http.LAST_CHUNK
        if "split" in self._faults and self._later is None and len(data) > 1:
            cut = 1 + self._manner.faults.place(self.row.key + self._made, len(data) - 1)
            self._connection.write(data[:cut])
            self._later = []
            data = data[cut:]
            self._loop.call_later(SPLIT_S, self._flush)
        if self._later is not None:
            self._later.append((data, tokens, last))
            return
        self._write(data, tokens)

    def _write(self, data: bytes, tokens: int) -> None:
        began_ns = monotonic_ns()
        self._connection.write(data)
        if tokens:
            self.row.wrote(began_ns, monotonic_ns(), tokens)

    def _flush(self) -> None:
        """What had to wait goes out."""
        waiting, self._later = self._later or [], None
        if self.finished:
            return
        for data, tokens, last in waiting:
            self._write(data, tokens)
            if last:
                self._end()

    def _end(self, clean: bool = True) -> None:
        self.finished = True
        self._ended(self)
        if clean:
            self._connection.done()


def _usage_in_finish(frames: list[Frame]) -> list[Frame]:
    """The frames with the usage moved into the one before it."""
    bodies: list[dict[str, Any] | None] = [msgspec.json.decode(data) if data.startswith(b"{") else None for _, data in frames]
    at = next((n for n, body in enumerate(bodies) if body and body.get("usage")), None)
    if not at:
        return frames
    body, usage = bodies[at - 1], bodies[at]
    assert body is not None
    assert usage is not None
    merged: Frame = (frames[at - 1][0], msgspec.json.encode(body | {"usage": usage["usage"]}))
    return [*frames[: at - 1], merged, *frames[at + 1 :]]
