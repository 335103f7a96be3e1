"""Performs calls against one endpoint: takes a kept line or dials one, sends, waits for the end."""

from __future__ import annotations

import asyncio
from time import monotonic_ns

import aiohttp

from sweep.dialect import Dialect, fault
from sweep.load.answer import Answer
from sweep.load.call import Call
from sweep.load.client import Target, proxy_for, request_head
from sweep.load.dial import Dialer
from sweep.load.http1 import Response
from sweep.load.line import Line
from sweep.load.wire import Wire
from sweep.model import Outcome


class Caller:
    """As an async context manager; closing it closes every line."""

    def __init__(self, target: Target, dialect: Dialect, run_id: str, wire: Wire, keep_alive: bool = True) -> None:
        self._target = target
        self._dialect = dialect
        self._wire = wire
        self._keep_alive = keep_alive
        self._head = request_head(target, dialect, keep_alive=keep_alive, proxy=proxy_for(target))
        self._run_id = run_id.encode()
        self._idle: list[Line] = []
        self._ahead: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Caller:
        self._loop = asyncio.get_running_loop()
        self._dialer = Dialer(self._target.place(self._dialect), self._target, self._wire)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._ahead:
            task.cancel()
        waiting = list(self._idle)
        self._idle.clear()
        for line in waiting:
            line.drop()
        await self._dialer.close()

    def begin(self, call: Call) -> None:
        """Puts the call on the wire at once if a line waits for one; `perform` does the rest either way."""
        while (line := self._kept()) is not None:
            try:
                self._send(call, line)
            except ConnectionError:
                continue
            call.reused = True
            return

    def spare(self, lines: int) -> None:
        """Sees to it that so many lines wait, for calls that come at a time of their own."""
        for _ in range(lines - len(self._idle) - len(self._ahead)):
            task = self._loop.create_task(self._dial_ahead())
            self._ahead.add(task)
            task.add_done_callback(self._ahead.discard)

    async def perform(self, call: Call) -> None:
        """Sends the call and waits for the end of its answer; leaves it settled whatever happens."""
        call.task = asyncio.current_task()
        try:
            await self._perform(call)
        except asyncio.CancelledError:
            if call.outcome is None:
                call.settle(Outcome.CUT if call.sent_ns is not None else Outcome.UNSENT, "cancelled")
                raise
            if call.task is not None:  # it was `stop` that cancelled the wait
                call.task.uncancel()
        except Exception as error:
            outcome = Outcome.CONNECT if call.sent_ns is None else Outcome.TRUNCATED
            call.settle(outcome, self.tell(call, str(error) or type(error).__name__))
        finally:
            call.task = None

    async def _perform(self, call: Call) -> None:
        if call.ended is None:
            self.begin(call)
        if call.ended is not None:
            try:
                await call.ended
                return
            except ConnectionError:
                # The one hidden retry: a kept connection that the server closed before it answered one byte.
                call.retries += 1
                call.reused, call.sent_ns = False, None
        line = await self._dial()
        call.connected_ns = monotonic_ns()
        if call.outcome is None:
            self._send(call, line)
            assert call.ended is not None
            await call.ended
        else:
            line.drop()

    def _send(self, call: Call, line: Line) -> None:
        line.send(call, b"%b%d-%b\r\nContent-Length: %d\r\n\r\n" % (self._head, call.number, self._run_id, len(call.body)))
        call.ended = self._loop.create_future()

    def _kept(self) -> Line | None:
        while self._idle:
            line = self._idle.pop()
            if not line.closed and (self._keep_alive or not line.used):
                return line
            line.drop()
        return None

    async def _dial(self) -> Line:
        connection = await self._dialer.dial()
        return Line(connection, self._wire, self._begin, self._idle)

    async def _dial_ahead(self) -> None:
        try:
            self._idle.append(await self._dial())
        except (OSError, aiohttp.ClientError):
            return  # the call that needs it will see for itself

    def _begin(self, call: Call, response: Response) -> Answer:
        return Answer(call, response, self._dialect, self.tell)

    def tell(self, call: Call, text: str) -> str:
        """An error's text, without keys and without the prompt it may echo."""
        kept = self._target.hide(fault.shorten(text))
        return fault.redact(kept, call.body.decode("utf-8", "replace")) if "text" in self._dialect.TRAITS.inputs else kept
