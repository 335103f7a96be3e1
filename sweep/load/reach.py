"""Whether anything still listens where the endpoint was."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from sweep.load.client import Target, proxy_for

PATIENCE_S = 2.0


def reachable(target: Target) -> bool:
    """A TCP connection to the endpoint, or to the proxy before it, comes about within `PATIENCE_S`."""
    parts = urlsplit(proxy_for(target) or target.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), PATIENCE_S):
            return True
    except OSError:
        return False
