"""How a connection comes about: aiohttp dials it (names, both IP versions, TLS, proxies) with sockets that stamp themselves.

aiohttp offers a bare connection only half publicly: `BaseConnector.connect` takes a request object. Where a release has changed
that, asyncio dials alone; then the only thing missing is proxies.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from sweep.errors import UsageError
from sweep.load.client import Target, proxy_for, tls
from sweep.load.wire import Wire


class Connection(Protocol):
    """What carries one line."""

    @property
    def transport(self) -> asyncio.Transport | None: ...
    def close(self) -> None: ...


def aiohttp_is_as_known() -> bool:
    """Whether this aiohttp gives connections away as the ones known do."""
    try:
        connect = list(inspect.signature(aiohttp.TCPConnector.connect).parameters)
        request = inspect.signature(aiohttp.ClientRequest).parameters
    except (AttributeError, ValueError):
        return False
    return connect == ["self", "req", "traces", "timeout"] and {"method", "url", "loop", "ssl", "proxy"} <= set(request)


class Dialer:
    """Dials one URL, on the running loop, as often as asked."""

    def __init__(self, url: str, target: Target, wire: Wire, through_aiohttp: bool | None = None) -> None:
        """UsageError where only aiohttp could reach the URL and this aiohttp is not known."""
        self._url = URL(url)
        self._tls = tls(target)
        self._wire = wire
        proxy = proxy_for(target)
        self._proxy = None if proxy is None else URL(proxy)
        self._loop = asyncio.get_running_loop()
        self._connector: aiohttp.TCPConnector | None = None
        if through_aiohttp if through_aiohttp is not None else aiohttp_is_as_known():
            # A name is looked up once a cell: a lookup takes a thread, and that would disturb the loop.
            self._connector = aiohttp.TCPConnector(limit=0, socket_factory=wire.socket, ssl=self._tls, ttl_dns_cache=None)
        elif self._proxy is not None:
            raise UsageError(
                f"aiohttp {aiohttp.__version__} cannot be used to reach a proxy",
                "install a release of aiohttp from 3.12 on that this version of sweep knows, or unset the proxy",
            )

    async def dial(self) -> Connection:
        """A connection, TLS included. OSError or aiohttp.ClientError when it does not come about."""
        connection = await (self._by_aiohttp(self._connector) if self._connector is not None else self._by_asyncio())
        self._wire.opened += 1
        return connection

    async def close(self) -> None:
        if self._connector is not None:
            await self._connector.close()

    async def _by_aiohttp(self, connector: aiohttp.TCPConnector) -> Connection:
        request = aiohttp.ClientRequest("POST", self._url, loop=self._loop, ssl=self._tls, proxy=self._proxy)
        connection: Any = await connector.connect(request, [], aiohttp.ClientTimeout(total=None))
        return connection  # type: ignore[no-any-return]

    async def _by_asyncio(self) -> Connection:
        parts = urlsplit(str(self._url))
        secure = parts.scheme == "https"
        addresses = await self._loop.getaddrinfo(parts.hostname, parts.port or (443 if secure else 80), type=socket.SOCK_STREAM)
        refused: OSError = ConnectionRefusedError("no address")
        for address in addresses:
            sock = self._wire.socket(address)
            sock.setblocking(False)
            try:
                await self._loop.sock_connect(sock, address[4])
            except OSError as error:
                refused = error
                sock.close()
                continue
            transport, _ = await self._loop.create_connection(
                asyncio.Protocol,
                sock=sock,
                ssl=self._tls if secure else None,
                server_hostname=parts.hostname if secure else None,
            )
            return _Plain(transport)
        raise refused


@dataclass(frozen=True, slots=True)
class _Plain:
    transport: asyncio.Transport

    def close(self) -> None:
        self.transport.close()
