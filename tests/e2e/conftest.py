from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from engines import llamacpp
from engines.engine import CannotRun, Engine

Sweep = Callable[..., "subprocess.CompletedProcess[str]"]
EVERY_SERVER = pytest.mark.skipif("SWEEP_E2E_ALL" not in os.environ, reason="installs gigabytes: make e2e-all")
COMMAND = [sys.executable, "-m", "sweep"]
CLEAN = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")} | {"NO_COLOR": "1"}


def started(running: AbstractContextManager[Engine]) -> Iterator[Engine]:
    """The engine, or a skip that says why not."""
    try:
        engine = running.__enter__()
    except CannotRun as reason:
        pytest.skip(str(reason))
    try:
        yield engine
    finally:
        running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def llama() -> Iterator[Engine]:
    with llamacpp.running() as engine:
        yield engine


@pytest.fixture
def sweep_command() -> Sweep:
    """Runs the command line as a user would and returns how it ended."""

    def call(*arguments: str | Path, expect: int | None = 0, timeout_s: float = 240) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=CLEAN,
            stdin=subprocess.DEVNULL,
        )
        if expect is not None:
            assert ended.returncode == expect, ended.stderr[-4000:]
        assert "Traceback" not in ended.stderr, ended.stderr[-4000:]
        return ended

    return call


@pytest.fixture
def begin_sweep() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command line in a session of its own, for tests that end it early; whatever is left is killed."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=CLEAN,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
