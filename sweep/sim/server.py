"""Running the simulated endpoint: in this process (`serve`), or as a process of its own (`start`)."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from sweep.errors import EndpointError
from sweep.sim.app import App
from sweep.sim.loop import precise_loop
from sweep.sim.options import Options

BACKLOG = 4096
STOP_S = 5.0


def serve(options: Options, announce: Callable[[str], None], *, until_stdin_closes: bool = False) -> None:
    """Serve until SIGINT or SIGTERM. `announce` is given the base URL once requests are accepted."""
    loop = precise_loop()
    try:
        loop.run_until_complete(_serve(options, announce, until_stdin_closes))
    finally:
        loop.close()


async def _serve(options: Options, announce: Callable[[str], None], until_stdin_closes: bool) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if until_stdin_closes:
        loop.add_reader(sys.stdin.fileno(), stopped.set)
    app = App(options)
    try:
        listening = await loop.create_server(app.connect, options.host, options.port, backlog=BACKLOG)
    except OSError as error:
        raise EndpointError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror}", "take another --port"
        ) from None
    host, port = listening.sockets[0].getsockname()[:2]
    gc.collect()
    gc.freeze()
    announce(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    try:
        await stopped.wait()
    finally:
        listening.close()
        app.close()
        await asyncio.sleep(0)  # for the connections to end


@dataclass(frozen=True, slots=True)
class Process:
    """A simulated endpoint in a process of its own. It ends with `stop`, and with the process that started it."""

    url: str
    popen: subprocess.Popen[str]

    def stop(self) -> None:
        if self.popen.stdin:
            self.popen.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(STOP_S)
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        if self.popen.stdout:
            self.popen.stdout.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(preset: str, **options: Any) -> Process:
    """Start the endpoint; `options` are fields of `Options`. UsageError for a bad option, EndpointError when it cannot start."""
    wanted = Options(preset=preset, **options)
    wanted.check()
    popen = subprocess.Popen(
        [sys.executable, "-m", "sweep.sim", msgspec.json.encode(wanted).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C in the terminal is for the parent, which then stops the endpoint
    )
    assert popen.stdout is not None
    url = popen.stdout.readline().strip()
    if not url:
        code = popen.wait()
        raise EndpointError(f"the simulated endpoint did not start (exit code {code})", "run `sweep sim` to see why")
    return Process(url, popen)
