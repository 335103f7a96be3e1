"""An event loop whose timers are exact to tens of microseconds.

epoll's own timeout counts whole milliseconds, and asyncio rounds it up. The epoll descriptor can itself be waited for, by
select(2), which counts microseconds.
"""

from __future__ import annotations

import asyncio
import select
import selectors

SelectorBase = getattr(selectors, "EpollSelector", selectors.DefaultSelector)
FD_SETSIZE = 1024


class PreciseSelector(SelectorBase):  # type: ignore[misc, valid-type]
    """The platform's selector; where that is epoll, waits of finite length end on time."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0 and isinstance(self, getattr(selectors, "EpollSelector", ())):
            waiting_on = self.fileno()
            if waiting_on < FD_SETSIZE:
                select.select([waiting_on], [], [], timeout)
                timeout = 0
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(timeout)
        return ready


def precise_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(PreciseSelector())
