"""Performs calls against one endpoint: takes a kept line or dials one, sends, waits for the end."""

from __future__ import annotations

import asyncio
from time import monotonic_ns

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from yarl import URL

from sweep.dialect import Dialect, fault
from sweep.load.answer import Answer
from sweep.load.call import Call
from sweep.load.client import Target, connector_for, proxy_for, request_head, tls
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
        self._url = URL(target.url + dialect.PATH)
        self._tls = tls(target)
        self._proxy = proxy_for(target)
        self._head = request_head(target, dialect.PATH, keep_alive=keep_alive, proxy=self._proxy)
        self._run_id = run_id.encode()
        self._idle: list[Line] = []

    async def __aenter__(self) -> Caller:
        self._loop = asyncio.get_running_loop()
        self._connector = connector_for(self._target, self._wire)
        return self

    async def __aexit__(self, *_: object) -> None:
        for line in self._idle:
            line.drop()
        self._idle.clear()
        await self._connector.close()

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
        line = self._kept()
        if line is not None:
            call.reused = True
            try:
                await self._send(call, line)
                return
            except ConnectionError:
                # The one hidden retry: a kept connection that the server closed before it answered one byte.
                call.retries += 1
                call.reused = False
        line = await self._dial()
        call.connected_ns = monotonic_ns()
        if call.outcome is None:
            await self._send(call, line)
        else:
            line.drop()

    async def _send(self, call: Call, line: Line) -> None:
        call.ended = self._loop.create_future()
        line.send(call, b"%b%d-%b\r\nContent-Length: %d\r\n\r\n" % (self._head, call.number, self._run_id, len(call.body)))
        await call.ended

    def _kept(self) -> Line | None:
        while self._idle and self._keep_alive:
            line = self._idle.pop()
            if not line.closed:
                return line
        return None

    async def _dial(self) -> Line:
        request = ClientRequest(
            "POST", self._url, loop=self._loop, ssl=self._tls, proxy=URL(self._proxy) if self._proxy else None
        )
        connection = await self._connector.connect(request, [], aiohttp.ClientTimeout(total=None))
        assert connection.transport is not None
        self._wire.opened += 1
        return Line(connection, self._wire.under(connection.transport), self._begin, self._idle)

    def _begin(self, call: Call, response: Response) -> Answer:
        return Answer(call, response, self._dialect, self.tell)

    def tell(self, call: Call, text: str) -> str:
        """An error's text, without keys and without the prompt it may echo."""
        return fault.redact(self._target.hide(fault.shorten(text)), call.body.decode("utf-8", "replace"))
