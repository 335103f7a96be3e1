"""Where requests go and how a session reaches it: base URL, secret headers, TLS, proxy."""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec

from sweep import __version__, dialect
from sweep.dialect import Dialect
from sweep.errors import UsageError

KEY_VARIABLES = ("SWEEP_API_KEY", "OPENAI_API_KEY")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_VERSIONED = re.compile(r"/v\d+[a-z0-9]*$")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint before anything was asked of it. `headers` are secret: never shown, never written to disk."""

    url: str  # ends where a dialect's path begins, usually in /v1
    model: str | None = None
    headers: dict[str, str] = {}
    insecure: bool = False
    tokenizer: str | None = None  # file to count answers with whose tokens the endpoint does not count

    def __repr__(self) -> str:
        return f"Target({self.url!r}, model={self.model!r}, headers=<{len(self.headers)} hidden>, insecure={self.insecure})"

    @property
    def root(self) -> str:
        """The server's own root, where /version and /props live."""
        return _VERSIONED.sub("", self.url)

    def place(self, spoken: Dialect) -> str:
        """The URL that requests of a dialect go to."""
        return (self.root if spoken.TRAITS.at_root else self.url) + spoken.PATH

    @property
    def loopback(self) -> bool:
        host = urlsplit(self.url).hostname or ""
        return host in LOOPBACK or host.startswith("127.")

    def hide(self, text: str) -> str:
        """`text` without any secret a server may have echoed."""
        for value in self.headers.values():
            for secret in {value, value.rpartition(" ")[2]}:
                if len(secret) >= 4:
                    text = text.replace(secret, "<hidden>")
        return text


def target_from(
    url: str,
    *,
    model: str | None = None,
    headers: Sequence[str] = (),
    insecure: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Target:
    """A target from what a user types: scheme, /v1 and the dialect's path are optional; `headers` are "Name: value".

    An explicit header wins over credentials in the URL, these over the key of the environment. UsageError when unreadable.
    """
    parts = _split(url)
    secret: dict[str, str] = {}
    key = next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)
    if key is not None:
        secret["Authorization"] = f"Bearer {key.strip()}"
    if parts.username is not None:
        secret["Authorization"] = _basic(parts)
    for header in headers:
        name, colon, value = header.partition(":")
        if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()) or not _VALUE.fullmatch(value):
            raise UsageError("a header must look like 'Name: value'", "for example --header 'Authorization: Bearer …'")
        secret = {known: kept for known, kept in secret.items() if known.lower() != name.strip().lower()}
        secret[name.strip()] = value.strip()
    return Target(url=_base(parts), model=model, headers=secret, insecure=insecure)


def _split(url: str) -> SplitResult:
    hint = "for example http://localhost:8000 or https://host/v1"
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        _ = parts.port, _host(parts)
    except ValueError:
        raise UsageError("the endpoint is not a URL", hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("the endpoint must be an http or https URL with a host", hint)
    if parts.query or parts.fragment:
        raise UsageError("the endpoint's URL must not have a query", "give keys with --header or SWEEP_API_KEY")
    return parts


def _host(parts: SplitResult) -> str:
    """In ASCII, as DNS knows it. Raises UnicodeError, which is a ValueError."""
    host = parts.hostname or ""
    return host if host.isascii() else host.encode("idna").decode("ascii")


def _base(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else _host(parts)
    path = parts.path.rstrip("/")
    for known in sorted((dialect.get(name).PATH for name in dialect.names()), key=len, reverse=True):
        path = path.removesuffix(known)
    if not _VERSIONED.search(path):
        path += "/v1"
    return urlunsplit((parts.scheme, host if parts.port is None else f"{host}:{parts.port}", path, "", ""))


def proxy_for(target: Target) -> str | None:
    """The proxy that the environment names for this target, credentials included; never one for this machine itself."""
    parts = urlsplit(target.url)
    if target.loopback or proxy_bypass(parts.hostname or ""):
        return None
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def tls(target: Target) -> ssl.SSLContext | bool:
    if not target.insecure:
        return True
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def request_head(target: Target, spoken: Dialect, *, keep_alive: bool, proxy: str | None) -> bytes:
    """Everything of a request before the number in its X-Request-Id; the target's headers win over ours."""
    parts = urlsplit(target.place(spoken))
    headers = {
        "Host": parts.netloc,
        "User-Agent": f"pareto-sweep/{__version__}",
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "Content-Type": spoken.TRAITS.content_type,
    }
    if not keep_alive:
        headers["Connection"] = "close"
    place = parts.path
    if proxy is not None and parts.scheme == "http":  # https goes through a tunnel and looks as without a proxy
        place = f"{parts.scheme}://{parts.netloc}{place}"
        headers |= proxy_authorization(proxy)
    given = {name.lower() for name in target.headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in given} | target.headers
    lines = [f"POST {place} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "X-Request-Id: "]
    return "\r\n".join(lines).encode("latin-1")


def proxy_authorization(proxy: str) -> dict[str, str]:
    parts = urlsplit(proxy)
    if parts.username is None:
        return {}
    return {"Proxy-Authorization": _basic(parts)}


def _basic(parts: SplitResult) -> str:
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def open_session(target: Target) -> aiohttp.ClientSession:
    """For the small questions beside the load: it adds no cookies, redirects or timeouts of its own."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=tls(target)),
        headers={"Accept-Encoding": "identity", **target.headers},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        proxy=proxy_for(target),
    )


async def body_of(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """A body of at most so many bytes; of a longer one nothing, and no more of it is read."""
    body = bytearray()
    while part := await response.content.read(most + 1 - len(body)):
        body += part
        if len(body) > most:
            return None
    return bytes(body)
