"""Connections that carry one call at a time, dialled by aiohttp (names, TLS, proxies) and kept while the server allows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic_ns

from sweep.load.answer import Answer
from sweep.load.call import Call
from sweep.load.dial import Connection
from sweep.load.http1 import Response
from sweep.load.wire import Wire
from sweep.model import Outcome


class Line(asyncio.Protocol):
    """One connection. Bytes are stamped by its socket and understood in the very callback that read them."""

    __slots__ = ("_answer", "_begin", "_call", "_connection", "_response", "_transport", "closed", "idle", "sock", "used")

    def __init__(self, connection: Connection, wire: Wire, begin: Callable[[Call, Response], Answer], idle: list[Line]) -> None:
        """Takes over a `connection` on a socket of `wire`. The line is in `idle` from a whole answer on, while it can be used."""
        transport = connection.transport
        assert transport is not None
        self._connection = connection
        self._begin = begin
        self._call: Call | None = None
        self._response = Response()
        self._answer: Answer | None = None
        self.sock = wire.under(transport)
        self.idle = idle
        self.used = False
        self.closed = False
        self._transport = transport
        self._transport.set_protocol(self)

    def send(self, call: Call, head: bytes) -> None:
        """Puts the request on the wire. ConnectionError when the server has closed it meanwhile."""
        if self.closed or self._transport.is_closing():
            raise ConnectionResetError("closed by the server")
        self._call, self._response, self._answer = call, Response(), None
        call.line = self
        self.used = True
        self.sock.sent_ns = 0
        self._transport.write(head + call.body)
        call.sent_ns = self.sock.sent_ns or monotonic_ns()

    def drop(self) -> None:
        """Closes the connection at once."""
        self._retire()
        self._let_go()
        self._transport.abort()
        self._connection.close()

    # --- asyncio's side --------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        call, response = self._call, self._response
        if call is None:  # nobody asked
            self.drop()
            return
        at_ns = self.sock.stamp_ns
        try:
            body = response.feed(data)
        except ValueError as error:
            self._fail(Outcome.MALFORMED, f"not understood: {error}")
            return
        answer = self._answer
        if answer is None:
            if response.status is None:
                return
            if at_ns < (call.sent_ns or 0):
                self._fail(Outcome.MALFORMED, "answered before it was asked")
                return
            answer = self._answer = self._begin(call, response)
        if body:
            answer.take(body, at_ns)
        if response.complete:
            self._complete(answer, at_ns)
        elif not answer.more:
            answer.end(response, False, at_ns)
            self.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._retire()
        call, answer = self._call, self._answer
        if call is not None:
            whole = self._response.eof()
            if answer is not None:
                answer.end(self._response, whole, self.sock.stamp_ns)
            elif call.reused and not self._response.begun:
                call.line = None  # its performer may send it once more
                if call.ended is not None and not call.ended.done():
                    call.ended.set_exception(ConnectionResetError("closed by the server"))
            else:
                call.settle(Outcome.TRUNCATED, f"the connection closed before an answer{f': {exc}' if exc else ''}")
        self._let_go()
        self._connection.close()

    # --- ends ------------------------------------------------------------------------------------------------

    def _complete(self, answer: Answer, at_ns: int) -> None:
        response = self._response
        self._let_go()
        if response.keep_alive and not response.surplus:
            self.idle.append(self)
        else:
            self.drop()
        answer.end(response, True, at_ns)

    def _fail(self, outcome: Outcome, error: str) -> None:
        call, answer = self._call, self._answer
        if answer is not None and call is not None and (call.meter.done or call.meter.finish):
            answer.end(self._response, False, self.sock.stamp_ns)
        elif call is not None:
            call.settle(outcome, error, self.sock.stamp_ns)
        self.drop()

    def _retire(self) -> None:
        self.closed = True
        if self in self.idle:
            self.idle.remove(self)

    def _let_go(self) -> None:
        if self._call is not None:
            self._call.line = None
            self._call = None
        self._answer = None
