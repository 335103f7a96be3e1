"""One request: what was asked, how it went, its row in the records."""

from __future__ import annotations

import asyncio
from time import monotonic_ns
from typing import TYPE_CHECKING

import msgspec

from sweep.load.meter import Meter
from sweep.model import Outcome, TokenSource

if TYPE_CHECKING:
    from sweep.load.line import Line

COMPLETE_GRACE_NS = 1_000_000_000  # for the end of a body whose answer is complete


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A request's columns of `records.py`, as far as the process that performed it knows them."""

    request: int
    planned_ns: int
    connected_ns: int | None
    sent_ns: int | None
    first_ns: int | None
    first_answer_ns: int | None
    last_ns: int | None
    end_ns: int | None
    isl_asked: int
    isl: int | None
    osl_asked: int
    osl: int | None
    token_source: str
    first_tokens: int | None
    cached_tokens: int | None
    chunks: int
    events_per_read_max: int | None
    retries: int
    outcome: str | None
    status: int | None
    retry_after_s: int | None
    error: str | None
    chunk_ns: bytes
    chunk_tokens: bytes
    text: str | None = None  # of an answer whose tokens nobody counted


class Call:
    """A request from its plan to its outcome. Whoever performs it awaits `ended`."""

    __slots__ = (
        "body", "connected_ns", "end_ns", "ended", "error", "headers", "isl_asked", "line", "meter", "number", "osl_asked", "outcome",
        "planned_ns", "retries", "retry_after_s", "reused", "sent_ns", "status", "task",
    )  # fmt: skip

    def __init__(self, number: int, isl: int, osl: int, body: bytes, meter: Meter) -> None:
        self.number = number
        self.isl_asked = isl
        self.osl_asked = osl
        self.body = body
        self.meter = meter
        self.planned_ns = 0
        self.connected_ns: int | None = None  # when a fresh connection was ready, TLS included
        self.sent_ns: int | None = None
        self.end_ns: int | None = None
        self.status: int | None = None
        self.retry_after_s: int | None = None  # as a refusal asks
        self.headers: dict[str, str] = {}  # of the response, names in lower case
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.retries = 0
        self.reused = False
        self.line: Line | None = None  # while it is on the wire
        self.task: asyncio.Task[None] | None = None  # while it is being performed
        self.ended: asyncio.Future[None] | None = None

    def settle(self, outcome: Outcome, error: str | None = None, end_ns: int | None = None) -> None:
        """Fixes how the request ended. The first verdict stands."""
        if self.outcome is None:
            self.outcome, self.error = outcome, error
            self.end_ns = monotonic_ns() if end_ns is None else max(end_ns, self.sent_ns or 0)
        if self.ended is not None and not self.ended.done():
            self.ended.set_result(None)

    def stop(self, outcome: Outcome, error: str | None = None) -> None:
        """Gives the request up, whatever it is waiting for."""
        if self.outcome is not None:
            return
        self.settle(outcome, error)
        if self.line is not None:
            self.line.drop()
        elif self.task is not None:
            self.task.cancel()

    def age_ns(self, now_ns: int) -> int:
        return now_ns - (self.sent_ns or self.planned_ns)

    def silent_ns(self, now_ns: int) -> int:
        """How long nothing was heard: since the last read, else since it was sent, else since it was due.

        Whatever comes after the end mark says nothing any more: then since the last token.
        """
        heard_ns = self.line.sock.stamp_ns if self.line is not None and not self.meter.done else self.meter.newest_ns or 0
        return now_ns - max(heard_ns, self.sent_ns or self.planned_ns)

    def lingers(self, now_ns: int) -> bool:
        """The answer is complete, and yet its body does not end."""
        return self.meter.done and self.silent_ns(now_ns) > COMPLETE_GRACE_NS

    def row(self) -> Row:
        """This request as the records know it; only chunks not handed out before come along."""
        meter = self.meter
        chunk_ns, chunk_tokens = meter.take()
        osl, source = meter.tokens()
        usage = meter.usage
        return Row(
            self.number,
            self.planned_ns,
            self.connected_ns,
            self.sent_ns,
            meter.first_ns,
            meter.answer_ns,
            meter.last_ns,
            self.end_ns,
            self.isl_asked,
            usage.prompt_tokens if usage else None,
            self.osl_asked,
            osl,
            source.value,
            meter.first_tokens,
            usage.cached_tokens if usage else None,
            meter.chunks_taken,
            meter.per_read_max or None,
            self.retries,
            self.outcome.value if self.outcome else None,
            self.status,
            self.retry_after_s,
            self.error,
            chunk_ns.tobytes(),
            chunk_tokens.tobytes(),
            meter.text() if self.outcome is Outcome.OK else None,
        )

    def judge_length(self) -> None:
        """An answer of another length than asked is no success at a server that can keep to it."""
        osl, source = self.meter.tokens()
        if self.outcome is Outcome.OK and osl != self.osl_asked and source is not TokenSource.CHUNKS:
            self.outcome, self.error = Outcome.WRONG_LENGTH, f"{osl} tokens where {self.osl_asked} were asked"
