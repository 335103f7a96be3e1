"""Absolute alarms on the event loop, late by tens of microseconds: a timerfd where there is one, else `call_at`."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from time import monotonic_ns

_CLOCK_MONOTONIC = 1
_ABSOLUTE = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("ns", ctypes.c_long))


class _Itimerspec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


def _libc() -> ctypes.CDLL | None:
    """The C library, when it has timerfd (Python has it from 3.13 on)."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        libc = ctypes.CDLL(None, use_errno=True)
        if hasattr(libc, "timerfd_create") and hasattr(libc, "timerfd_settime"):
            return libc
    return None


class Alarm:
    """Calls `ring` on the running loop once for every `set`; a later `set` replaces an earlier one."""

    def __init__(self, ring: Callable[[], None], precise: bool = True) -> None:
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._libc = _libc() if precise else None
        self._fd = -1
        if self._libc is not None:
            self._fd = self._libc.timerfd_create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._expired)

    def set(self, at_ns: int) -> None:
        """Rings at `at_ns` (CLOCK_MONOTONIC), at once if that has passed."""
        if self._fd >= 0:
            assert self._libc is not None
            seconds, ns = divmod(max(at_ns, 1), 1_000_000_000)
            due = _Itimerspec(_Timespec(0, 0), _Timespec(seconds, ns))
            self._libc.timerfd_settime(self._fd, _ABSOLUTE, ctypes.byref(due), None)
            return
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._loop.call_later(max(0, at_ns - monotonic_ns()) / 1e9, self._ring)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _expired(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._fd, 8)
            self._ring()
