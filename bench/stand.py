"""The test stand: the reference server on one core, what is measured on another, both above all else if asked."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic_ns

import msgspec

from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.model import Calibration, Cell, Endpoint, Length, Limits, Load, Profile
from sweep.records import Batch

CERTIFICATE = Path(__file__).parent.parent / "tests" / "unit" / "load" / "localhost.pem"
REALTIME = "--realtime"


class Mark(msgspec.Struct, frozen=True):
    """A moment and the processor time the worker had used by then."""

    at_ns: int
    cpu_s: float


class Drive(msgspec.Struct, frozen=True):
    """What one worker did: its batches, marks at the half and at the end, its peak of memory."""

    batches: list[Batch]
    half: Mark
    end: Mark
    memory_mib: float


@contextmanager
def reference(options: tuple[str, ...], *, tls: bool = False, realtime: bool = False) -> Iterator[int]:
    """The port of a reference server on core 0, until the block ends."""
    certificate = ("--tls", str(CERTIFICATE)) if tls else ()
    pin(0)
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.reference", *options, *certificate], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        if realtime:
            above_all(server.pid)
        yield port
    finally:
        server.terminate()
        server.wait()


def drive(port: int, load: Load, osl: int, seconds: float, *, tls: bool = False, realtime: bool = False) -> Drive:
    """A cell of so many seconds by one worker on core 1."""
    target = target_from(f"{'https' if tls else 'http'}://localhost:{port}", insecure=tls, environ={})
    pin(1)
    with Fleet(target) as fleet:
        pin(0)
        fleet.await_ready()
        running = fleet.measure(_cell(load, osl), _endpoint(target.url), "bench")
        pid = running.workers[0].process.pid
        if realtime:
            above_all(pid)
        marks: list[Mark] = []

        def mark() -> None:
            marks.append(Mark(monotonic_ns(), _cpu_s(pid)))

        def end() -> None:
            mark()
            running.finish(marks[-1].at_ns)

        for after_s, action in ((seconds / 2, mark), (seconds, end)):
            threading.Timer(after_s, action).start()
        batches = list(running)
        half, end_mark = marks
        return Drive(batches, half, end_mark, _peak_kib(pid) / 1024)


def pin(*cores: int) -> None:
    """This process, and what it starts next, runs on these cores; where there are too few, anywhere."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > max(cores):
        os.sched_setaffinity(0, cores)


def other_cores() -> tuple[int, ...]:
    """All but the server's."""
    return tuple(range(1, os.cpu_count() or 1)) or (0,)


def above_all(pid: int) -> None:
    """A real-time priority for every thread of a process, against busy neighbours; needs the right to set it."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(20))


def _cell(load: Load, osl: int) -> Cell:
    profile = Profile(name="bench", title="bench", isl=Length(mean=32), osl=Length(mean=osl), dialect="completions")
    return Cell(index=0, profile=profile, load=load, limits=Limits(), start="cold", seed=1)


def _endpoint(url: str) -> Endpoint:
    known = Calibration(tokens_per_word=1, template_tokens=0, source="usage")
    return Endpoint(url=url, model="reference", dialect="completions", calibration=known)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
