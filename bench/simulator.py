"""The simulated endpoint against what is known, and what it costs.

python -m bench.simulator            everything
python -m bench.simulator reference  closed-loop throughput of every preset against an independent program's figures
python -m bench.simulator wire       token events per second and CPU of the real-time server
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import time

import numpy as np
from numpy.typing import NDArray

from sweep.load import preflight
from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.load.running import Running as RealRunning
from sweep.model import Cell, Length, Limits, Load, Profile
from sweep.records import concat
from sweep.sim.running import Running as VirtualRunning
from sweep.sim.server import start
from sweep.sim.virtual import Source

SLOTS = (1, 16, 64, 256)
WITHIN = 0.04
NAMES = {"8b": "synthetic-8b-bf16", "70b": "synthetic-70b-fp8", "moe": "synthetic-120b-moe"}
OUTPUT_TOK_PER_S: dict[tuple[int, int], dict[str, tuple[int, ...]]] = {
    (1024, 1024): {"8b": (171, 2158, 5210, 8077), "70b": (43, 603, 1692, 2020), "moe": (281, 2014, 3732, 8072)},
    (8192, 1024): {"8b": (156, 936, 1300, 1302), "70b": (41, 308, 421, 392), "moe": (258, 1188, 1660, 2138)},
    (1024, 8192): {"8b": (167, 1678, 3094, 3365), "70b": (43, 576, 1324, 1215), "moe": (279, 1930, 3399, 6392)},
}
"""By (ISL, OSL): closed loop, cold start, lengths U[0.8, 1]·L, tokens delivered between completions C/2 and 2.5·C."""

EVENTS_PER_S = 20_000


def throughput(preset: str, isl: int, osl: int, slots: int, seed: int = 1) -> float:
    """Output tok/s of a closed loop in virtual time."""
    isl_range, osl_range = Length(max=isl, range_ratio=0.8), Length(max=osl, range_ratio=0.8)
    profile = Profile(name="reference", title="", isl=isl_range, osl=osl_range)
    patient = Limits(idle_timeout_s=1e6, deadline_s=1e6)
    cell = Cell(index=0, profile=profile, load=Load(kind="closed", level=slots), limits=patient, start="cold", seed=seed)
    running = Source(preset).measure(cell)
    parts = []
    for batch in running:
        parts.append(batch.done)
        if sum(map(len, parts)) >= 3 * slots:
            running.abort()
    records = concat(parts)
    ends = np.sort(records["end_ns"][records["outcome"] == "ok"])
    begin, end = ends[max(0, slots // 2 - 1)], ends[int(2.5 * slots) - 1]
    inside = (records.chunk_ns > begin) & (records.chunk_ns <= end)
    return float(records.chunk_tokens[inside].sum() / ((end - begin) / 1e9))


def reference() -> bool:
    """Prints every entry beside the reference; whether all are within 4 %."""
    good = True
    slowest_s = 0.0
    for (isl, osl), presets in OUTPUT_TOK_PER_S.items():
        for short, expected in presets.items():
            shown = []
            for slots, tok_per_s in zip(SLOTS, expected, strict=True):
                began = time.perf_counter()
                off = throughput(NAMES[short], isl, osl, slots) / tok_per_s - 1
                slowest_s = max(slowest_s, time.perf_counter() - began)
                good &= abs(off) <= WITHIN
                shown.append(f"C={slots} {tok_per_s} {off:+.1%}")
            print(f"{isl}/{osl} {short:4} {'   '.join(shown)}")
    print(f"all within {WITHIN:.0%}: {good}; the slowest point took {slowest_s:.1f} s")
    return good


def wire(streams: int = 300, tokens: int = 300) -> bool:
    """Drains many streams; whether the server could sustain the rate asked for on one core."""
    with start(NAMES["8b"]) as process:
        host, _, port = process.url.removeprefix("http://").partition(":")
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}], "max_tokens": tokens, "stream": True}).encode()
        ask = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        selector = selectors.DefaultSelector()
        cpu_s, began = _cpu_s(process.popen.pid), time.perf_counter()
        for _ in range(streams):
            stream = socket.create_connection((host, int(port)))
            stream.sendall(ask)
            selector.register(stream, selectors.EVENT_READ)
        events = _drain(selector, streams)
        seconds = time.perf_counter() - began
        cpu_s = _cpu_s(process.popen.pid) - cpu_s
        lateness = [line for line in _get(host, int(port), "/metrics").splitlines() if line.startswith("sweep_sim")]
    per_core = events / cpu_s
    print(f"{events} events in {seconds:.2f} s: {events / seconds:,.0f}/s at {cpu_s / seconds:.0%} of a core")
    print(f"{1e6 * cpu_s / events:.1f} µs of CPU per event: {per_core:,.0f}/s on one core; {EVENTS_PER_S:,} asked")
    print("\n".join(lateness))
    return per_core >= EVENTS_PER_S


def agreement(rate_per_s: float = 7.5, seconds: float = 20.0) -> bool:
    """Half of what the preset can take of 1024/256, the same arrivals: does the virtual mean lie in the real one's interval?"""
    profile = Profile(name="half", title="", isl=Length(mean=1024), osl=Length(mean=256), dialect="completions")
    cell = Cell(index=0, profile=profile, load=Load(kind="poisson", level=rate_per_s), limits=Limits(), start="cold", seed=1)
    source = Source(NAMES["8b"])
    virtual_s = _ttft_s(source.measure(cell), seconds)
    with start(NAMES["8b"]) as process, Fleet(target := target_from(process.url)) as fleet:
        endpoint = preflight.probe(target, "completions")
        real_s = _ttft_s(fleet.measure(cell, endpoint, "bench"), seconds)
    half_width_s = 1.96 * real_s.std() / np.sqrt(len(real_s))
    print(f"mean TTFT: virtual {virtual_s.mean() * 1e3:.2f} ms, real {real_s.mean() * 1e3:.2f} ± {half_width_s * 1e3:.2f} ms")
    return bool(abs(virtual_s.mean() - real_s.mean()) <= half_width_s)


def _ttft_s(running: VirtualRunning | RealRunning, seconds: float) -> NDArray[np.float64]:
    """TTFT of the requests due in the first seconds."""
    parts = []
    end_ns: int | None = None
    for batch in running:
        parts.append(batch.done)
        if end_ns is None:
            end_ns = batch.at_ns + round(seconds * 1e9)
            running.finish(end_ns)
    records = concat(parts)
    ok = records["outcome"] == "ok"
    return np.asarray((records["first_ns"] - records["planned_ns"])[ok] / 1e9)


def _drain(selector: selectors.BaseSelector, streams: int) -> int:
    events = 0
    while streams:
        for key, _ in selector.select():
            assert isinstance(key.fileobj, socket.socket)
            data = key.fileobj.recv(65536)
            events += data.count(b"\n\n")
            if b"[DONE]" in data:
                streams -= 1
                selector.unregister(key.fileobj)
                key.fileobj.close()
    return events


def _get(host: str, port: int, path: str) -> str:
    with socket.create_connection((host, port)) as stream:
        stream.sendall(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: stream.recv(65536), b"")).decode()


def _cpu_s(pid: int) -> float:
    """User and system time of a process, on Linux."""
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parts = {"reference": reference, "wire": wire, "agreement": agreement}
    chosen = sys.argv[1:] or list(parts)
    results = [parts[name]() for name in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
