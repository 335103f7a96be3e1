"""The presets under load in real time, and the truth about it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.request import ProxyHandler, Request, build_opener

import msgspec

from sweep.errors import EndpointError
from sweep.load import preflight
from sweep.load.client import Target, target_from
from sweep.load.fleet import Fleet
from sweep.load.host import observed, tool
from sweep.load.running import Running
from sweep.measure import window as windows
from sweep.model import Cell, Endpoint, Health, Length, Limits, Load, Point, Profile, Window
from sweep.records import Records, concat
from sweep.selftest import compare, truth
from sweep.selftest.nouns import TOLERANCE, LoadResult, PresetResult, Selftest
from sweep.sim.device import PRESETS
from sweep.sim.server import Process, start
from sweep.wording import counted

STREAMS = {"synthetic-8b-bf16": (1, 16, 64, 256), "synthetic-70b-fp8": (1, 16, 64), "synthetic-120b-moe": (1, 16, 64, 256)}
SETTLE_S = 1.0
WINDOW_S, QUICK_WINDOW_S = 5.0, 2.0
QUICK_STREAMS = 16
PROFILE = Profile(
    name="selftest", title="", isl=Length(mean=128), osl=Length(max=96, range_ratio=0.5), dialect="completions", start="cold"
)

Tell = Callable[[str], None]


def selftest(*, quick: bool = False, tell: Tell = lambda _: None) -> Selftest:
    """Every preset at several loads, for about two minutes; `quick`: light loads only. EndpointError if none can be served."""
    at, began = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    presets = tuple(_preset(name, quick, tell) for name in PRESETS)
    loads = [load for preset in presets for load in preset.loads]
    highest = compare.highest_exact(loads)
    return Selftest(
        at=at,
        tool=tool(),
        client=observed(),
        seconds=time.monotonic() - began,
        quick=quick,
        tolerance=TOLERANCE,
        presets=presets,
        exact_tok_per_s=highest.tok_per_s if highest else None,
        exact_streams=highest.streams if highest else None,
        exact_to_the_end=all(load.exact for load in loads),
        fit=compare.is_fit(loads),
    )


def _preset(name: str, quick: bool, tell: Tell) -> PresetResult:
    streams = [each for each in STREAMS[name] if not quick or each <= QUICK_STREAMS]
    loads, measured, true = [], [], []
    with start(name) as server, Fleet(target := target_from(server.url, environ={})) as fleet:
        bench = _Bench(server, target, fleet, preflight.probe(target, PROFILE.dialect))
        for level in streams:
            tell(f"{name}, {counted(level, 'stream')}")
            load, ours, theirs = bench.measure(level, QUICK_WINDOW_S if quick else WINDOW_S)
            loads.append(load)
            measured.append(ours)
            true.append(theirs)
    return compare.preset_result(name, loads, measured, true)


class _Bench:
    """One served preset, and the fleet that loads it."""

    def __init__(self, server: Process, target: Target, fleet: Fleet, endpoint: Endpoint) -> None:
        self._server = server
        self._target = target
        self._fleet = fleet
        self._endpoint = endpoint
        self._cells = 0
        self._sent = 0

    def measure(self, streams: int, window_s: float) -> tuple[LoadResult, Point, Point]:
        """The load, its point by our records and its point by the truth; measured once more when not exact: something else may have run."""
        first = self._once(streams, window_s)
        if first[0].exact:
            return first
        load, ours, theirs = self._once(streams, window_s)
        return msgspec.structs.replace(load, tries=2), ours, theirs

    def _once(self, streams: int, window_s: float) -> tuple[LoadResult, Point, Point]:
        run_id = secrets.token_hex(4)
        closed = Load(kind="closed", level=streams)
        cell = Cell(
            index=self._cells, profile=PROFILE, load=closed, limits=Limits(), start="cold", seed=1, first_request=self._sent
        )
        self._ask("DELETE")
        records, window, health = under_load(self._fleet.measure(cell, self._endpoint, run_id), window_s)
        self._cells += 1
        self._sent += 1 + int(records["request"].max(initial=0)) - cell.first_request
        joined = truth.join(windows.with_phases(records, window), truth.rows_of(self._ask("GET"), run_id))
        return compare.load_result(cell, joined, window, health, self._endpoint)

    def _ask(self, method: str) -> bytes:
        try:
            with build_opener(ProxyHandler({})).open(Request(f"{self._server.url}/truth", method=method), timeout=60) as answer:
                said: bytes = answer.read()
        except OSError as error:
            raise EndpointError(f"the simulated endpoint does not tell its truth: {error}", "run the self-test again") from None
        return said


def under_load(running: Running, window_s: float) -> tuple[Records, Window, Health | None]:
    """A cell with a window of fixed place and length, whose cohort is let end. No steady state is needed to compare stamps."""
    parts: list[Records] = []
    health: Health | None = None
    window: Window | None = None
    try:
        for batch in running:
            parts.append(batch.done)
            health = batch.health or health
            if window is None:
                begin_ns = batch.at_ns + round(SETTLE_S * 1e9)
                window = Window(
                    begin_ns=begin_ns,
                    end_ns=begin_ns + round(window_s * 1e9),
                    begin_reason="a second after the start",
                    end_reason="duration",
                )
                running.finish(window.end_ns)
    finally:
        running.close()
    if window is None:
        raise EndpointError("the client's worker process ended early", "run the self-test again")
    return concat(parts), window, health
