"""Ctrl-C is never lost, not even where Python itself drops an exception."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    assert subprocess.run([sys.executable, "-c", LOST], timeout=100).returncode == 130


EARLY = """
import signal, sys
from sweep.__main__ import main

class Moment:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Moment())
sys.argv = ["sweep", "version"]
main()
"""


@pytest.mark.parametrize("module", ["sweep.cli.main", "typer", "sweep.cli.run", "importlib.metadata"])
def test_an_interrupt_while_it_starts_is_quiet(module: str) -> None:
    ended = subprocess.run([sys.executable, "-c", EARLY.replace("MODULE", repr(module))], capture_output=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"error: interrupted\n")
