"""Connections come about through aiohttp, and without it where a release is not known."""

from __future__ import annotations

import asyncio
import inspect

import aiohttp
import pytest

from sweep.errors import UsageError
from sweep.load.client import Target, target_from
from sweep.load.dial import Dialer, aiohttp_is_as_known
from sweep.load.wire import StampingSocket, Wire


def dialled(target: Target, through_aiohttp: bool) -> StampingSocket:
    async def dial() -> StampingSocket:
        wire = Wire()
        dialer = Dialer(f"{target.url}/completions", target, wire, through_aiohttp)
        connection = await dialer.dial()
        assert connection.transport is not None
        sock = wire.under(connection.transport)
        connection.transport.write(b"GET /version HTTP/1.1\r\n\r\n")
        while not sock.stamp_ns:
            await asyncio.sleep(0.001)
        connection.close()
        await dialer.close()
        while sock.fileno() != -1:  # TLS says goodbye first
            await asyncio.sleep(0.001)
        assert wire.opened == 1
        return sock

    return asyncio.run(dial())


@pytest.mark.parametrize("through_aiohttp", [True, False])
@pytest.mark.parametrize("secure", [False, True])
def test_a_connection_stamps_what_it_sends_and_reads(serve, server, through_aiohttp: bool, secure: bool) -> None:
    target = target_from(serve(server, tls=secure), insecure=secure, environ={})
    sock = dialled(target, through_aiohttp)
    assert 0 < sock.sent_ns <= sock.stamp_ns


@pytest.mark.parametrize("through_aiohttp", [True, False])
def test_a_refused_connection_is_an_oserror(through_aiohttp: bool) -> None:
    with pytest.raises(OSError):
        dialled(target_from("127.0.0.1:9", environ={}), through_aiohttp)


def test_an_aiohttp_that_changed_is_noticed_and_done_without(monkeypatch: pytest.MonkeyPatch, serve, server) -> None:
    async def connect(self: object, request: object) -> None: ...

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", connect)
    assert not aiohttp_is_as_known()
    assert "traces" not in inspect.signature(aiohttp.TCPConnector.connect).parameters
    target = target_from(serve(server), environ={})
    assert dialled(target, aiohttp_is_as_known()).stamp_ns
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    with pytest.raises(UsageError, match="proxy"):
        dialled(target_from("http://outside", environ={}), False)
