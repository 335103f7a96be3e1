"""One request, from its plan to its outcome: performed over a session, told as a row of the records."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic_ns
from typing import Any

import aiohttp
from aiohttp.http_exceptions import ContentLengthError, TransferEncodingError

from sweep.dialect import Dialect, fault
from sweep.load.client import Target
from sweep.load.meter import Meter
from sweep.load.wire import CURRENT, Exchange
from sweep.model import Outcome, TokenSource

ERROR_BYTES = 65_536
WHOLE_BYTES = 8 << 20
STREAM_TYPES = ("text/event-stream", "application/octet-stream", "text/plain", "")


class Call:
    """A request in flight. `verdict` is set by whoever cancels its task, so that it knows why."""

    __slots__ = (
        "body", "end_ns", "error", "exchange", "isl_asked", "meter", "number", "osl_asked", "outcome", "planned_ns", "retries",
        "retry_after_s", "status", "task", "verdict",
    )  # fmt: skip

    def __init__(self, number: int, isl: int, osl: int, body: bytes, meter: Meter) -> None:
        self.number = number
        self.isl_asked = isl
        self.osl_asked = osl
        self.body = body
        self.meter = meter
        self.exchange = Exchange()
        self.planned_ns = 0
        self.end_ns: int | None = None
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.status: int | None = None
        self.retries = 0
        self.retry_after_s: float | None = None
        self.task: asyncio.Task[None] | None = None
        self.verdict: tuple[Outcome | None, str | None] | None = None

    def age_ns(self, now_ns: int) -> int:
        return now_ns - (self.exchange.sent_ns or self.planned_ns)

    def silent_ns(self, now_ns: int) -> int:
        """How long nothing was heard: since the last read, else since it was sent, else since it was due."""
        return now_ns - (self.exchange.heard_ns() or self.planned_ns)

    def stop(self, outcome: Outcome | None, error: str | None = None) -> None:
        """Ends the request; `outcome` None leaves it as what was received amounts to."""
        if self.verdict is None and self.outcome is None:
            self.verdict = outcome, error
            if self.task is not None:
                self.task.cancel()

    def settle(self, outcome: Outcome, error: str | None = None) -> None:
        if self.outcome is None:
            self.outcome, self.error = outcome, error
            if self.end_ns is None:
                self.end_ns = monotonic_ns()

    def row(self, columns: Mapping[str, Any], osl_honoured: bool) -> dict[str, Any]:
        """This request's row: `columns` are those of the whole shard; only chunks not handed out before come along."""
        meter, exchange = self.meter, self.exchange
        chunk_ns, chunk_tokens = meter.take()
        osl, source = meter.tokens()
        usage = meter.usage
        if self.outcome is Outcome.OK and osl_honoured and osl != self.osl_asked and source is not TokenSource.CHUNKS:
            self.outcome, self.error = Outcome.WRONG_LENGTH, f"{osl} tokens where {self.osl_asked} were asked"
        return {
            **columns,
            "request": self.number,
            "planned_ns": self.planned_ns,
            "connected_ns": exchange.connected_ns,
            "sent_ns": exchange.sent_ns,
            "first_ns": meter.first_ns,
            "first_answer_ns": meter.answer_ns,
            "last_ns": meter.last_ns,
            "end_ns": self.end_ns,
            "isl_asked": self.isl_asked,
            "isl": usage.prompt_tokens if usage else None,
            "osl_asked": self.osl_asked,
            "osl": osl,
            "token_source": source.value,
            "first_tokens": meter.first_tokens,
            "cached_tokens": usage.cached_tokens if usage else None,
            "chunks": meter.chunks,
            "events_per_read_max": meter.per_read_max or None,
            "retries": self.retries,
            "outcome": self.outcome.value if self.outcome else None,
            "status": self.status,
            "error": self.error,
            "chunk_ns": chunk_ns,
            "chunk_tokens": chunk_tokens,
        }


class Caller:
    """Performs calls against one endpoint. `fresh` never reuses a connection."""

    def __init__(
        self, target: Target, dialect: Dialect, run_id: str, session: aiohttp.ClientSession, fresh: aiohttp.ClientSession
    ) -> None:
        self._target = target
        self._dialect = dialect
        self._url = target.url + dialect.PATH
        self._run_id = run_id
        self._session = session
        self._fresh = fresh

    async def perform(self, call: Call) -> None:
        """Sends the call and reads its answer to the end; always leaves it settled."""
        CURRENT.set(call.exchange)
        try:
            try:
                await self._ask(call, self._session)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError):
                # The one hidden retry: a kept connection that the server had closed before it saw this request.
                if not call.exchange.reused or call.exchange.answered:
                    raise
                call.exchange = Exchange()
                call.retries += 1
                CURRENT.set(call.exchange)
                await self._ask(call, self._fresh)
        except asyncio.CancelledError:
            if call.verdict is None:
                call.settle(Outcome.CUT)
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            outcome, error = call.verdict
            call.settle(outcome or call.meter.outcome(), error)
        except Exception as error:
            if call.meter.done or call.meter.finish:
                call.settle(call.meter.outcome(), call.meter.error)
            else:
                call.settle(failure(error, call.exchange), self._told(call, str(error) or type(error).__name__))

    async def _ask(self, call: Call, session: aiohttp.ClientSession) -> None:
        headers = {"Content-Type": "application/json", "X-Request-Id": f"{call.number}-{self._run_id}"}
        response = await session.post(self._url, data=call.body, headers=headers, allow_redirects=False)
        try:
            await self._read(call, response)
        finally:
            response.release()

    async def _read(self, call: Call, response: aiohttp.ClientResponse) -> None:
        call.status = response.status
        if response.status != 200:
            await self._read_refusal(call, response)
        elif response.headers.get("Content-Encoding", "identity").lower() != "identity":
            call.settle(Outcome.MALFORMED, "the answer is compressed although identity was asked for")
        elif response.content_type == "application/json":
            await self._read_whole(call, response)
        elif "html" in response.content_type:
            call.settle(Outcome.MALFORMED, f"a {response.content_type} page instead of an answer")
        else:
            await self._read_stream(call, response)

    async def _read_stream(self, call: Call, response: aiohttp.ClientResponse) -> None:
        meter, sock = call.meter, call.exchange.sock
        assert sock is not None
        read, feed = response.content.readany, meter.feed
        while data := await read():
            feed(data, sock.stamp_ns)
            if meter.failed is not None:
                break
        meter.end()
        call.end_ns = sock.stamp_ns
        call.settle(meter.outcome(), self._told(call, meter.error) if meter.error else None)

    async def _read_whole(self, call: Call, response: aiohttp.ClientResponse) -> None:
        body = await read_at_most(response, WHOLE_BYTES)
        sock = call.exchange.sock
        assert sock is not None
        try:
            event = self._dialect.decode_whole(body)
        except ValueError as error:
            call.settle(Outcome.MALFORMED, self._told(call, str(error)))
            return
        call.end_ns = sock.stamp_ns
        call.meter.whole(event, sock.stamp_ns)
        call.settle(call.meter.outcome(), self._told(call, call.meter.error) if call.meter.error else None)

    async def _read_refusal(self, call: Call, response: aiohttp.ClientResponse) -> None:
        said = fault.explain(await read_at_most(response, ERROR_BYTES))
        retry_after = response.headers.get("Retry-After")
        if 300 <= response.status < 400:
            said = f"redirected to {response.headers.get('Location', 'nowhere').partition('?')[0]}, which is not followed"
        if response.status in (429, 503) and retry_after is not None:
            call.retry_after_s = float(retry_after) if retry_after.strip().isdecimal() else None
            call.settle(Outcome.RATE_LIMITED, self._told(call, f"retry after {retry_after[:40]}: {said}"))
        else:
            call.settle(Outcome.HTTP_ERROR, self._told(call, said or response.reason or ""))

    def _told(self, call: Call, text: str) -> str:
        """An error's text, without keys and without the prompt it may echo."""
        return fault.redact(self._target.hide(fault.shorten(text)), call.body.decode("utf-8", "replace"))


async def read_at_most(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, or its first `limit` bytes and a little."""
    body = bytearray()
    while len(body) < limit and (data := await response.content.readany()):
        body += data
    return bytes(body)


def failure(error: Exception, exchange: Exchange) -> Outcome:
    """Which outcome an exception of the transport means."""
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError | aiohttp.ClientSSLError):
        return Outcome.CONNECT
    if isinstance(error, aiohttp.ClientPayloadError):
        cause = error.__cause__
        unfinished = isinstance(cause, ContentLengthError | OSError) or "not completed" in str(error)
        unfinished = unfinished or (isinstance(cause, TransferEncodingError) and "Not enough data" in str(cause))
        return Outcome.TRUNCATED if unfinished else Outcome.MALFORMED
    if isinstance(error, OSError | aiohttp.ClientConnectionError):
        return Outcome.CONNECT if exchange.sent_ns is None else Outcome.TRUNCATED
    return Outcome.MALFORMED
