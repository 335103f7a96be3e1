"""Why an endpoint cannot be measured, in words, and what to do next."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

import aiohttp

from sweep.errors import EndpointError, ModelError
from sweep.load.call import Call
from sweep.load.client import Target, proxy_for, without_credentials
from sweep.model import Outcome

BUSY = (429, 503, 529)
KEY_HINT = "set SWEEP_API_KEY, or give --header 'Authorization: Bearer …'"


def of_connection(error: Exception, target: Target) -> EndpointError:
    """What an exception on the way to the first answer means."""
    place = urlsplit(target.url).netloc
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        proxy = without_credentials(proxy_for(target) or "")
        return EndpointError(f"the proxy {proxy} does not let us through to {place}", "set no_proxy, or mend the proxy")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return EndpointError(f"there is no host called {urlsplit(target.url).hostname}", "check the endpoint's name")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return EndpointError(
            f"the certificate of {place} is not trusted: {_certificate(error.certificate_error)}",
            "mend the certificate, or go on without verifying it: --insecure",
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return EndpointError(f"{place} does not speak TLS", "try http:// instead of https://")
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error.os_error, ConnectionResetError):
        reason = error.os_error.strerror or str(error.os_error)
        return EndpointError(f"nothing answers at {place}: {reason}", "is the server up, is the port right?")
    if isinstance(error, TimeoutError):
        return EndpointError(f"{place} does not answer", "is the server up, is the port right?")
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | ConnectionError):
        other = "https" if target.url.startswith("http:") else "http"
        return EndpointError(f"{place} closed the connection without an answer", f"try {other}://, or look at its log")
    return EndpointError(f"{place} does not speak HTTP as we know it ({type(error).__name__})", "check the endpoint's port")


def of_status(status: int, said: str, target: Target, url: str, model: str | None = None) -> EndpointError:
    """What an HTTP status instead of an answer means."""
    told = f": {said}" if said else ""
    if status in (401, 403):
        given = "refuses the key" if target.headers else "wants a key"
        return EndpointError(f"{url} {given} (HTTP {status})", KEY_HINT)
    if 300 <= status < 400:
        return EndpointError(
            f"{url} redirects (HTTP {status}){told}", "give the address it leads to; redirects are not followed"
        )
    if status in (400, 404, 422) and model is not None and "model" in said.lower():
        return ModelError(f"the endpoint does not serve {model!r}{told}", "choose another with --model NAME")
    if status == 404:
        return EndpointError(f"{url} is not there (HTTP 404){told}", "check the path, and --dialect (chat or completions)")
    if status in BUSY:
        return EndpointError(
            f"{url} takes no requests now (HTTP {status}){told}", "wait, then try again; or ask for a higher limit"
        )
    return EndpointError(f"{url} answers HTTP {status}{told}", "try the same request with curl; look at the server's log")


def of_call(call: Call, target: Target, url: str, model: str) -> EndpointError:
    """What a probe's outcome means."""
    said = call.error or ""
    if call.outcome in (Outcome.HTTP_ERROR, Outcome.RATE_LIMITED) and call.status is not None:
        return of_status(call.status, said, target, url, model)
    if call.outcome is Outcome.EMPTY:
        return EndpointError(f"{url} answers without a single token", "does this model answer this dialect?")
    return EndpointError(f"{url} gives no whole answer ({call.outcome}: {said})", "look at the server's log; check --dialect")


def _certificate(error: Exception) -> str:
    return error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
