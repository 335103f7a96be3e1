"""What a stamp of ours is worth and what an event costs us, against a server that knows when it sent.

python -m bench.client                        every case
python -m bench.client [--realtime] NAME …    some of them, at a real-time priority on a machine that is not idle

Server and worker are pinned to a core each where the machine lets us. Error: our stamp minus the server's clock just before
its send(2), never negative. CPU is the worker's; `floor` is the share of it that a client would need that only reads and
counts. `spare` says how much of its core the worker left unused. Late: how long after its time an open loop's request left.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench import stand
from sweep.model import Load
from sweep.records import Records, concat

RESULTS = Path(__file__).with_name("results.json")
SECONDS = 5.0
PACED = ("--ttft-ms", "20", "--itl-ms", "20", "--jitter", "0.5")


class Case(msgspec.Struct, frozen=True):
    load: Load
    osl: int
    server: tuple[str, ...] = PACED
    tls: bool = False
    seconds: float = SECONDS


CASES = {
    "paced-512": Case(Load(kind="closed", level=512), 64),
    "lockstep-512": Case(Load(kind="closed", level=512), 64, ("--ttft-ms", "20", "--itl-ms", "40", "--lockstep")),
    "many-4096": Case(
        Load(kind="closed", level=4096), 64, ("--ttft-ms", "50", "--itl-ms", "250", "--jitter", "0.5"), seconds=14.0
    ),
    "tls-200": Case(Load(kind="closed", level=200), 64, tls=True),
    "osl-1": Case(Load(kind="closed", level=64), 1, ()),
    "poisson-1000": Case(Load(kind="poisson", level=1000), 2, ("--ttft-ms", "20", "--itl-ms", "10")),
}


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Of the second half of the run, when all streams are up."""

    events_per_s: float
    requests_per_s: float
    cpu_us_per_event: float
    cpu_us_per_request: float
    floor_us_per_event: float | None
    spare: float
    memory_mib: float
    error_us: dict[str, float]  # p50, p99, max
    first_error_us: dict[str, float]
    ramp_error_us: dict[str, float]  # of the first half
    lateness_us: dict[str, float]  # open loops only
    merged_read_share: float | None
    late_read_share: float | None
    stamped_share: float | None


def measure(case: Case, realtime: bool) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder, "truth.npy")
        with stand.reference(("--truth", str(truth), *case.server), tls=case.tls, realtime=realtime) as port:
            did = stand.drive(port, case.load, case.osl, case.seconds, tls=case.tls, realtime=realtime)
        floor_us = None
        if case.load.kind == "closed" and not case.tls and case.load.level < 1000:
            with stand.reference(case.server, realtime=realtime) as port:
                floor_us = _floor_us(port, case, realtime)
        return _figures(did, np.load(truth), floor_us)


def _floor_us(port: int, case: Case, realtime: bool) -> float:
    asked = (str(port), f"{case.load.level:g}", str(case.osl), str(case.seconds))
    stand.pin(1)
    client = subprocess.Popen([sys.executable, "-m", "bench.floor", *asked], stdout=subprocess.PIPE)
    stand.pin(0)
    if realtime:
        stand.above_all(client.pid)
    said, _ = client.communicate()
    return float(json.loads(said)["cpu_us_per_event"])


def _figures(did: stand.Drive, truth: NDArray[np.int64], floor_us: float | None) -> Figures:
    done = concat([batch.done for batch in did.batches])
    begin_ns, end_ns = did.half.at_ns, did.end.at_ns
    seconds, cpu_s = (end_ns - begin_ns) / 1e9, did.end.cpu_s - did.half.cpu_s
    events = int(((done.chunk_ns >= begin_ns) & (done.chunk_ns < end_ns)).sum())
    requests = int(((done["end_ns"] >= begin_ns) & (done["end_ns"] < end_ns) & (done["outcome"] == "ok")).sum())
    error_us, number = _errors_us(done, truth)
    late = done.chunk_ns >= begin_ns
    health = did.batches[-1].health
    lateness = {} if health is None else {"p50": health.send_lateness_p50_s, "p99": health.send_lateness_p99_s}
    return Figures(
        events_per_s=events / seconds,
        requests_per_s=requests / seconds,
        cpu_us_per_event=cpu_s / max(events, 1) * 1e6,
        cpu_us_per_request=cpu_s / max(requests, 1) * 1e6,
        floor_us_per_event=floor_us,
        spare=1 - cpu_s / seconds,
        memory_mib=did.memory_mib,
        error_us=_spread(error_us[late]),
        first_error_us=_spread(error_us[late & (number == 0)]),
        ramp_error_us=_spread(error_us[~late]),
        lateness_us={name: 1e6 * value for name, value in lateness.items() if value is not None},
        merged_read_share=health.merged_read_share if health else None,
        late_read_share=health.late_read_share if health else None,
        stamped_share=health.stamped_share if health else None,
    )


def _errors_us(done: Records, truth: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(error of every chunk's stamp, its number in its answer)."""
    most = 1 + int(truth[:, 1].max(initial=0))
    order = np.argsort(truth[:, 0] * most + truth[:, 1])
    known, sent_ns = (truth[:, 0] * most + truth[:, 1])[order], truth[order, 2]
    rows = done.chunk_rows()
    number = np.arange(len(rows)) - done.chunk_start[:-1][rows]
    place = np.searchsorted(known, done["request"][rows].astype(np.int64) * most + number)
    return (done.chunk_ns - sent_ns[np.minimum(place, len(sent_ns) - 1)]) / 1e3, number


def _spread(values: NDArray[np.float64]) -> dict[str, float]:
    if not len(values):
        return {}
    p50, p99 = np.quantile(values, (0.5, 0.99))
    return {"p50": float(p50), "p99": float(p99), "max": float(values.max())}


HEADER = (
    f"{'case':14}{'events/s':>9}{'req/s':>7}{'µs/event':>9}{'floor':>6}{'µs/req':>7}{'spare':>6}{'MiB':>5}"
    f"{'error p50/p99/max µs':>22}{'first p99':>10}{'ramp max':>9}{'late p99':>9}"
)


def _line(name: str, got: Figures) -> str:
    error = "/".join(f"{got.error_us.get(key, float('nan')):.1f}" for key in ("p50", "p99", "max"))
    floor = f"{got.floor_us_per_event / got.cpu_us_per_event:.2f}" if got.floor_us_per_event is not None else "–"
    lateness = f"{got.lateness_us['p99']:.0f}" if "p99" in got.lateness_us else "–"
    return (
        f"{name:14}{got.events_per_s:9.0f}{got.requests_per_s:7.0f}{got.cpu_us_per_event:9.1f}{floor:>6}"
        f"{got.cpu_us_per_request:7.0f}{got.spare:6.0%}{got.memory_mib:5.0f}{error:>22}"
        f"{got.first_error_us.get('p99', float('nan')):10.1f}{got.ramp_error_us.get('max', float('nan')):9.0f}{lateness:>9}"
    )


def keep(part: str, figures: object) -> None:
    """Puts one benchmark's figures into `results.json`, beside those of others."""
    held = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {}
    held[part] = msgspec.to_builtins(figures)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(held)) + b"\n")


def main(arguments: list[str] | None = None) -> int:
    asked = sys.argv[1:] if arguments is None else arguments
    realtime = stand.REALTIME in asked
    names = [name for name in asked if name != stand.REALTIME] or list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"unknown case {unknown[0]}; known: {', '.join(CASES)}")
        return 2
    print(HEADER)
    results: dict[str, Figures] = {}
    for name in names:
        got = results[name] = measure(CASES[name], realtime)
        print(_line(name, got), flush=True)
    if names == list(CASES):
        keep("client", {"realtime": realtime, "cases": results})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
