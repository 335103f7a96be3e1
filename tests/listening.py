"""A server each of whose connections is left to a test's coroutine. No connection outlives it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

ROUNDS = 6  # of the loop until whoever has connected is talked to; a server that is closed before then loses him


@asynccontextmanager
async def listening(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[asyncio.Server]:
    talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks[task] = writer
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            pass  # the other side left, or the test is over
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    try:
        yield server
    finally:
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        for writer in talks.values():
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in talks.values()), return_exceptions=True)


@contextmanager
def listening_aside(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The same in a thread of its own, for clients that own the main thread: its port."""
    port: list[int] = []
    ready = threading.Event()

    async def serve() -> None:
        async with listening(talk, context) as server:
            port.append(server.sockets[0].getsockname()[1])
            ready.set()
            await over.wait()

    over = asyncio.Event()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=runner.run, args=(serve(),))
        thread.start()
        ready.wait()
        try:
            yield port[0]
        finally:
            loop.call_soon_threadsafe(over.set)
            thread.join()
