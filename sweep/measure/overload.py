"""Does the backlog of an open loop grow without bound? Then the answer is "offered > capacity", not a latency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.measure.slots import NEVER
from sweep.records import Records

BINS = 10
SIGNIFICANT = 3.5  # Student's t of ten bins: once a second for minutes, a stationary queue passes it in under 1 % of the cells
PATIENT_S, PATIENT_ARRIVALS, PATIENT_GROWTH = 60.0, 2000, 0.05
EARLY_S, EARLY_ARRIVALS, EARLY_GROWTH = 20.0, 400, 0.25
MIN_E2E = 3.0


def overloaded(records: Records, e2e_s: float | None, now_ns: int) -> bool:
    """Arrivals outrun completions: by 5 % after max(60 s, 3 E2E) and 2,000 arrivals, by 25 % after max(20 s, 3 E2E) and 400.

    1.1 times the capacity leaves 9 % of the arrivals unanswered, 1.5 times leaves 33 %. The backlog must grow in ten equal
    time bins so evenly that Student's t of their mean is significant: a stationary queue, whose pace may wander slowly,
    pays every growth back, which makes its bins differ.
    """
    planned = records.present("planned_ns")
    due_ns = np.sort(records["planned_ns"][planned])
    if len(due_ns) < EARLY_ARRIVALS or e2e_s is None:
        return False
    elapsed_s = (now_ns - int(due_ns[0])) / 1e9
    if elapsed_s < max(EARLY_S, MIN_E2E * e2e_s):
        return False
    patient = elapsed_s >= max(PATIENT_S, MIN_E2E * e2e_s) and len(due_ns) >= PATIENT_ARRIVALS
    end_ns = np.sort(np.where(planned & records.present("end_ns"), records["end_ns"], NEVER)[planned])
    edges = np.linspace(int(due_ns[0]) + round(e2e_s * 1e9), now_ns, BINS + 1).astype(np.int64)
    come = np.diff(_counted(due_ns, edges))
    growth = come - np.diff(_counted(end_ns, edges))
    if growth.sum() <= (PATIENT_GROWTH if patient else EARLY_GROWTH) * come.sum():
        return False
    return bool(growth.mean() > SIGNIFICANT * growth.std(ddof=1) / np.sqrt(BINS))


def _counted(times_ns: NDArray[np.int64], at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.searchsorted(times_ns, at_ns, side="right").astype(np.float64)
