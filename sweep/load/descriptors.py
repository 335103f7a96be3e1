"""Room for as many sockets as a cell needs: the limit, the table behind it, the ports of connections to one address."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

WIDE = 8_192


def raise_limit() -> int | None:
    """Lifts this process's descriptor limit as far as it may; returns it, None where there is no such limit."""
    if os.name != "posix":
        return None
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return None if hard == resource.RLIM_INFINITY else hard


def widen_table(count: int = WIDE) -> None:
    """Makes the kernel's table of this process's descriptors that large now, before there are threads.

    It grows by doubling, and where threads share it each growth stops the process for about 15 ms (synchronize_rcu).
    """
    if os.name != "posix":
        return
    import fcntl

    with contextlib.suppress(OSError), Path(os.devnull).open("rb") as any_file:
        os.close(fcntl.fcntl(any_file, fcntl.F_DUPFD_CLOEXEC, count - 1))


def local_ports() -> int | None:
    """How many connections this machine can have to one address and port; None where it does not tell."""
    if sys.platform != "linux":
        return None
    try:
        first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return int(last) - int(first) + 1
    except (OSError, ValueError):
        return None
