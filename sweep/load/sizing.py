"""How many workers a plan needs, and whether this machine has room for its connections."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from sweep.errors import UsageError
from sweep.load.client import target_from
from sweep.load.descriptors import local_ports
from sweep.load.null import SPOKEN, TOKENS, NullServer
from sweep.model import Calibration, Cell, Endpoint, Length, Limits, Load, Profile
from sweep.wording import counted

if TYPE_CHECKING:
    from sweep.load.fleet import Fleet

ASSURED_EVENTS_PER_S = 8_000.0  # one worker takes that on any machine
BUSY = 0.8  # of a core, beyond which stamps begin to suffer
SECONDS = 1.0
STREAMS = 64
SPARE_DESCRIPTORS = 64
WORKERS_A_CORE = 16


def workers_for(events_per_s: float, sustained: Callable[[], float]) -> int:
    """Workers for the pace a plan expects; `sustained`, events/s of one, is asked only where one may be too few."""
    if events_per_s <= ASSURED_EVENTS_PER_S:
        return 1
    return min(cores(), math.ceil(events_per_s / sustained()))


def require_cores(workers: int) -> None:
    """Raises UsageError for far more workers than this machine can run."""
    if workers > WORKERS_A_CORE * cores():
        raise UsageError(
            f"--workers {workers:,} are too many for this machine's {counted(cores(), 'core')}",
            "one for each core is plenty; without --workers sweep takes what the plan needs",
        )


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def calibrate(open_fleet: Callable[[str], Fleet]) -> float:
    """Events/s that one worker sustains at `BUSY` of a core, by what it costs it to take some from a null server.

    The processor's time counts, not the clock's: a busy neighbour does not make a worker look slow.
    """
    profile = Profile(name="null", title="null", isl=Length(mean=16), osl=Length(mean=TOKENS), dialect=SPOKEN)
    load = Load(kind="closed", level=STREAMS)
    cell = Cell(index=0, profile=profile, load=load, limits=Limits(), start="cold", seed=0)
    known = Calibration(tokens_per_word=1.0, template_tokens=0.0, source="assumed")
    with NullServer() as url, open_fleet(url) as fleet:
        endpoint = Endpoint(url=target_from(url, environ={}).url, model="null", dialect=SPOKEN, calibration=known)
        fleet.await_ready()
        began = monotonic()
        events, health = 0, None
        running = fleet.measure(cell, endpoint, "calibration")
        for batch in running:
            events += int(batch.done["chunks"].sum())
            health = batch.health
            if monotonic() - began >= SECONDS:
                running.abort()
        seconds = monotonic() - began
    if health is None or not health.cpu_share or not events:
        return ASSURED_EVENTS_PER_S
    return max(ASSURED_EVENTS_PER_S, BUSY * events / seconds / health.cpu_share)


def workers_to_hold(connections: float, descriptors: int | None) -> int:
    """Workers whose descriptors together suffice for so many connections."""
    return 1 if descriptors is None else max(1, math.ceil(connections / (descriptors - SPARE_DESCRIPTORS)))


def require_room(connections: float, workers: int, descriptors: int | None) -> None:
    """Raises UsageError when so many connections to one endpoint are more than this machine allows."""
    if workers < workers_to_hold(connections, descriptors):
        raise UsageError(
            f"{connections:.0f} connections need more descriptors than this machine allows ({descriptors} a process)",
            "raise the hard limit (ulimit -Hn), give it more workers (--workers), or less load",
        )
    ports = local_ports()
    if ports is not None and connections > ports:
        raise UsageError(
            f"{connections:.0f} connections need more local ports than this machine has ({ports})",
            "widen net.ipv4.ip_local_port_range, or less load",
        )
