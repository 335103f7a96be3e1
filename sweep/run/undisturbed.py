"""What Ctrl-C may not cut in half: an import cannot be begun twice, and files are worth writing once they are begun."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed(*, asked_already: bool = False) -> Iterator[None]:
    """An interruption meanwhile is raised at the end, unless whoever interrupts has `asked_already` and is being heard."""
    heard: list[int] = []
    mine = threading.current_thread() is threading.main_thread()  # others are never interrupted
    kept = [each for each in ENDING if mine and signal.getsignal(each) is signal.default_int_handler]
    for each in kept:
        signal.signal(each, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        for each in kept:
            signal.signal(each, signal.default_int_handler)
    if heard and not asked_already:
        raise KeyboardInterrupt
