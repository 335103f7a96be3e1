"""What a stamp of ours is worth and what an event costs us, against a server that knows when it sent.

python -m bench.client           every case
python -m bench.client NAME …    some of them

Server and worker are pinned to a core each where the machine lets us. Error: our stamp minus the server's clock just before
its send(2), never negative. CPU is the worker's. `spare` says how much of its core the worker left unused.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from time import monotonic_ns
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.model import Calibration, Cell, Endpoint, Length, Limits, Load, Profile
from sweep.records import Records, concat

CERTIFICATE = Path(__file__).parent.parent / "tests" / "unit" / "load" / "localhost.pem"
RESULTS = Path(__file__).with_name("results.json")
SECONDS = 5.0


class Case(msgspec.Struct, frozen=True):
    streams: int
    osl: int
    server: tuple[str, ...]
    tls: bool = False


CASES = {
    "paced-128": Case(128, 128, ("--ttft-ms", "20", "--itl-ms", "10", "--jitter", "0.5")),
    "lockstep-512": Case(512, 64, ("--ttft-ms", "20", "--itl-ms", "40", "--lockstep")),
    "many-2048": Case(2048, 32, ("--ttft-ms", "50", "--itl-ms", "200", "--jitter", "0.5")),
    "tls-200": Case(200, 64, ("--ttft-ms", "20", "--itl-ms", "20", "--jitter", "0.5"), tls=True),
    "osl-1": Case(64, 1, ()),
}


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Of the second half of the run, when all streams are up."""

    events_per_s: float
    requests_per_s: float
    cpu_us_per_event: float
    cpu_us_per_request: float
    spare: float
    memory_mib: float
    error_us: dict[str, float]  # p50, p99, max
    first_error_us: dict[str, float]
    merged_read_share: float | None
    stamped_share: float | None


def measure(case: Case, seconds: float = SECONDS) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder, "truth.npy")
        server = _serve(case, truth)
        assert server.stdout is not None
        scheme = "https" if case.tls else "http"
        target = target_from(f"{scheme}://localhost:{server.stdout.readline().strip()}", insecure=case.tls, environ={})
        _pin(1)
        with Fleet(target) as fleet:
            _pin(0)
            running = fleet.measure(_cell(case), _endpoint(target.url), "bench")
            pid = running.workers[0].process.pid
            marks: list[tuple[int, float]] = []

            def mark() -> None:
                marks.append((monotonic_ns(), _cpu_s(pid)))

            def end() -> None:
                mark()
                running.finish(monotonic_ns())

            for after, action in ((seconds / 2, mark), (seconds, end)):
                threading.Timer(after, action).start()
            batches = list(running)
            memory_mib = _peak_kib(pid) / 1024
        server.terminate()
        server.wait()
        health = batches[-1].health
        return _figures(concat([batch.done for batch in batches]), np.load(truth), marks, memory_mib, health)


def _figures(
    done: Records, truth: NDArray[np.int64], marks: list[tuple[int, float]], memory_mib: float, health: Any
) -> Figures:
    (begin_ns, cpu_before), (end_ns, cpu_after) = marks
    seconds, cpu_s = (end_ns - begin_ns) / 1e9, cpu_after - cpu_before
    events = int(((done.chunk_ns >= begin_ns) & (done.chunk_ns < end_ns)).sum())
    requests = int(((done["end_ns"] >= begin_ns) & (done["end_ns"] < end_ns) & (done["outcome"] == "ok")).sum())
    sent = {(int(request), int(number)): int(at) for request, number, at in truth}
    rows = done.chunk_rows()
    number = np.arange(len(rows)) - done.chunk_start[:-1][rows]
    keys = zip(done["request"][rows].tolist(), number.tolist(), strict=True)
    error_us = (done.chunk_ns - np.array([sent.get(key, 0) for key in keys], np.int64)) / 1e3
    late = done.chunk_ns >= begin_ns
    return Figures(
        events_per_s=events / seconds,
        requests_per_s=requests / seconds,
        cpu_us_per_event=cpu_s / max(events, 1) * 1e6,
        cpu_us_per_request=cpu_s / max(requests, 1) * 1e6,
        spare=1 - cpu_s / seconds,
        memory_mib=memory_mib,
        error_us=_spread(error_us[late]),
        first_error_us=_spread(error_us[late & (number == 0)]),
        merged_read_share=health.merged_read_share if health else None,
        stamped_share=health.stamped_share if health else None,
    )


def _spread(values: NDArray[np.float64]) -> dict[str, float]:
    if not len(values):
        return {}
    p50, p99 = np.quantile(values, (0.5, 0.99))
    return {"p50": float(p50), "p99": float(p99), "max": float(values.max())}


def _serve(case: Case, truth: Path) -> subprocess.Popen[str]:
    tls = ("--tls", str(CERTIFICATE)) if case.tls else ()
    command = [sys.executable, "-m", "bench.reference", "--truth", str(truth), *case.server, *tls]
    _pin(0)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _cell(case: Case) -> Cell:
    profile = Profile(name="bench", title="bench", isl=Length(mean=32), osl=Length(mean=case.osl), dialect="completions")
    load = Load(kind="closed", level=case.streams)
    return Cell(index=0, profile=profile, load=load, limits=Limits(), start="cold", seed=1)


def _endpoint(url: str) -> Endpoint:
    known = Calibration(tokens_per_word=1, template_tokens=0, source="usage")
    return Endpoint(url=url, model="reference", dialect="completions", calibration=known)


def _pin(core: int) -> None:
    """What this process starts next runs on that core; where there are too few, anywhere."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, {core})


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def main(arguments: list[str] | None = None) -> int:
    names = (sys.argv[1:] if arguments is None else arguments) or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"unknown case {unknown[0]}; known: {', '.join(CASES)}")
        return 2
    results: dict[str, Figures] = {}
    print(
        f"{'case':14}{'events/s':>10}{'req/s':>8}{'µs/event':>10}{'µs/req':>8}{'spare':>7}{'MiB':>6}{'error p50/p99/max µs':>26}{'first p99':>11}"
    )
    for name in names:
        time.sleep(0.2)
        got = results[name] = measure(CASES[name])
        error = "/".join(f"{got.error_us.get(key, float('nan')):.1f}" for key in ("p50", "p99", "max"))
        print(
            f"{name:14}{got.events_per_s:10.0f}{got.requests_per_s:8.0f}{got.cpu_us_per_event:10.1f}{got.cpu_us_per_request:8.1f}"
            f"{got.spare:7.0%}{got.memory_mib:6.0f}{error:>26}{got.first_error_us.get('p99', float('nan')):11.1f}"
        )
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode({"client": results})) + b"\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
