"""Does the backlog of an open loop grow without bound? Then the answer is "offered > capacity", not a latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.measure.slots import NEVER
from sweep.records import Records

Ints = NDArray[np.int64]

BINS = 10
LOOKS = 1.3  # every further look is another chance of a false alarm
FIRST = 20  # arrivals that a queue, if there is one, has hardly delayed


@dataclass(frozen=True, slots=True)
class Patience:
    """From when a backlog is judged, and how much of what came must be left over, how evenly (Student's t of ten bins).

    `latencies`: not before so many E2E have passed.
    """

    seconds: float
    arrivals: int
    growth: float
    t: float
    latencies: float = 3.0


EARLY = Patience(30.0, 400, 0.28, 4.5)  # 1.5 times the capacity leaves 33 % of the arrivals unanswered
PATIENT = Patience(60.0, 2000, 0.05, 3.5)  # 1.1 times leaves 9 %
FLOODED = Patience(30.0, 400, 0.5, 4.5, latencies=10.0)  # twice leaves half
SUSPECTED = Patience(10.0, 100, 0.05, 2.0, latencies=1.5)  # enough to wait for a verdict


def overloaded(records: Records, e2e_s: float | None, now_ns: int) -> bool:
    """Arrivals outrun completions: by 5 % after max(60 s, 3 E2E, 2,000 arrivals), by 28 % after max(30 s, 3 E2E, 400 arrivals).

    The backlog must grow in ten equal time bins so evenly that Student's t of their mean is significant: a stationary queue,
    whose pace may wander slowly, pays every growth back, which makes its bins differ. Judged at moments 1.3 times apart: at the
    last one before `now_ns`.

    No test can do all that one wishes (`python -m bench.alarms`). With a pace that wanders by 30 % and remembers a hundred requests,
    one queue in a hundred at 95 % of its capacity has so long a backlog after 2,500 arrivals that 1.1 times the capacity exceeds it
    in one run of seven only, after 8,000 arrivals in two of three. Whatever is not found here grows on, and its TTFT is found
    drifting.

    From three times the capacity E2E grows as fast as time goes by, and three of it never pass. There the E2E of the first arrivals
    is the measure, and half of what came must be left over after ten of it: no queue that settles is so much slower than at first.
    """
    if e2e_s is None:
        return False
    due_ns, end_ns = _due_and_end_ns(records)
    for patience in (PATIENT, EARLY):
        look_ns = _last_look_ns(patience, due_ns, e2e_s, now_ns)
        if look_ns is not None:
            return _grows(patience, due_ns, end_ns, e2e_s, look_ns)
    first_e2e_s = float(np.median((end_ns - due_ns)[:FIRST])) / 1e9
    look_ns = _last_look_ns(FLOODED, due_ns, first_e2e_s, now_ns)
    return look_ns is not None and _grows(FLOODED, due_ns, end_ns, first_e2e_s, look_ns)


def suspected(records: Records, e2e_s: float, now_ns: int) -> bool:
    """The backlog grows, and it is too early to tell whether without bound."""
    due_ns, end_ns = _due_and_end_ns(records)
    early = (
        _last_look_ns(PATIENT, due_ns, e2e_s, now_ns) is None and _last_look_ns(SUSPECTED, due_ns, e2e_s, now_ns) is not None
    )
    return early and _grows(SUSPECTED, due_ns, end_ns, e2e_s, now_ns)


def _due_and_end_ns(records: Records) -> tuple[Ints, Ints]:
    """When every request was due, in that order, and when it ended, NEVER while it has not."""
    rows = np.flatnonzero(records.present("planned_ns"))
    rows = rows[np.argsort(records["planned_ns"][rows], kind="stable")]
    return records["planned_ns"][rows], np.where(records.present("end_ns")[rows], records["end_ns"][rows], NEVER)


def _last_look_ns(patience: Patience, due_ns: Ints, e2e_s: float, now_ns: int) -> int | None:
    """The last moment before now at which it is judged, None before the first."""
    if len(due_ns) < patience.arrivals:
        return None
    enough_s = float(due_ns[patience.arrivals - 1] - due_ns[0]) / 1e9
    first_s = max(patience.seconds, patience.latencies * e2e_s, enough_s)
    elapsed_s = (now_ns - int(due_ns[0])) / 1e9
    if elapsed_s < first_s:
        return None
    looks = math.floor(math.log(elapsed_s / first_s) / math.log(LOOKS) + 1e-9)
    return int(due_ns[0]) + round(first_s * LOOKS**looks * 1e9)


def _grows(patience: Patience, due_ns: Ints, end_ns: Ints, e2e_s: float, look_ns: int) -> bool:
    edges = np.linspace(int(due_ns[0]) + round(e2e_s * 1e9), look_ns, BINS + 1).astype(np.int64)
    come = np.diff(_counted(due_ns, edges))
    growth = come - np.diff(_counted(np.sort(end_ns), edges))
    if growth.sum() <= patience.growth * come.sum():
        return False
    return bool(growth.mean() > patience.t * growth.std(ddof=1) / np.sqrt(BINS))


def _counted(times_ns: Ints, at_ns: Ints) -> NDArray[np.float64]:
    return np.searchsorted(times_ns, at_ns, side="right").astype(np.float64)
