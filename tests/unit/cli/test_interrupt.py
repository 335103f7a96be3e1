"""Ctrl-C is never lost, not even where Python itself drops an exception."""

from __future__ import annotations

import subprocess
import sys

LOST = """
import signal, sys, time, weakref
from sweep.cli import main

class Thing: pass

sys.unraisablehook = main.interrupt_again
thing = Thing()
watched = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
try:
    del thing  # the KeyboardInterrupt falls into the callback, where it is dropped
    time.sleep(5)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupt_that_python_drops_is_sent_again() -> None:
    assert subprocess.run([sys.executable, "-c", LOST], timeout=20).returncode == 130
