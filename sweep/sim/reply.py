"""One streamed answer on its way out: tokens become chunks, and faults strike here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from sweep.dialect import Dialect, Frame, sse
from sweep.model import SimAsk, SimChunk, Usage
from sweep.sim import http
from sweep.sim.faults import Faults
from sweep.sim.outlet import Outlet
from sweep.sim.tokens import TOKEN_TEXT
from sweep.sim.truth import Row

HUGE_BYTES = 1 << 20
MULTI_TOKENS = 4
MIDWAY = ("error_event", "truncated", "reset")


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
        self._outlet = Outlet(connection, row, self._cut, self._end)
        if "role_only" in self._faults:
            self._send(self._opening(), 0, False)

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
            self._send(frames + (self._closing() if last else []), fresh, last)

    def leave(self) -> None:
        """The client left."""
        if not self.finished:
            self.row.outcome = "left"
            self._drop()
            self._outlet.forget()
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
        if "stall" in self._faults:
            self._outlet.hold(self._manner.stall_s)
        fault = next((kind for kind in MIDWAY if kind in self._faults), None)
        if fault is None:
            return False
        self.row.outcome = fault
        self._drop()
        if fault == "reset":
            self._connection.reset()
            self._outlet.forget()
            self._end(clean=False)
        else:
            died = (None, self._dialect.failure("the simulated engine died", 500))
            self._send([died] if fault == "error_event" else [], 0, True)
        return True

    # --- bytes ----------------------------------------------------------------------------------------------------

    def _send(self, frames: list[Frame], tokens: int, last: bool) -> None:
        self._outlet.send(b"".join(map(self._framed, frames)), tokens, last)

    def _cut(self, length: int) -> int:
        return 1 + self._manner.faults.place(self.row.key + self._made, length - 1)

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
