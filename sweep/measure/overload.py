"""Does the backlog of an open loop grow without bound? Then the answer is "offered > capacity", not a latency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.measure.slots import NEVER
from sweep.records import Records

BINS = 10
PATIENT_T, EARLY_T = 3.5, 4.5  # Student's t of ten bins
LOOKS = 1.3  # every further look is another chance of a false alarm
PATIENT_S, PATIENT_ARRIVALS, PATIENT_GROWTH = 60.0, 2000, 0.05
EARLY_S, EARLY_ARRIVALS, EARLY_GROWTH = 30.0, 400, 0.28
MIN_E2E = 3.0


def overloaded(records: Records, e2e_s: float | None, now_ns: int) -> bool:
    """Arrivals outrun completions: by 5 % after max(60 s, 3 E2E) and 2,000 arrivals, by 28 % after max(30 s, 3 E2E) and 400.

    1.1 times the capacity leaves 9 % of the arrivals unanswered, 1.5 times leaves 33 %. The backlog must grow in ten equal
    time bins so evenly that Student's t of their mean is significant: a stationary queue, whose pace may wander slowly,
    pays every growth back, which makes its bins differ. Judged at moments 1.3 times apart: at the last one before `now_ns`.
    """
    planned = records.present("planned_ns")
    due_ns = np.sort(records["planned_ns"][planned])
    if len(due_ns) < EARLY_ARRIVALS or e2e_s is None:
        return False
    begin_ns, first_s = int(due_ns[0]), max(EARLY_S, MIN_E2E * e2e_s)
    elapsed_s = (now_ns - begin_ns) / 1e9
    if elapsed_s < first_s:
        return False
    elapsed_s = first_s * LOOKS ** np.floor(np.log(elapsed_s / first_s) / np.log(LOOKS) + 1e-9)
    now_ns = begin_ns + round(elapsed_s * 1e9)
    due_ns = due_ns[due_ns <= now_ns]
    if len(due_ns) < EARLY_ARRIVALS:
        return False
    patient = elapsed_s >= max(PATIENT_S, MIN_E2E * e2e_s) and len(due_ns) >= PATIENT_ARRIVALS
    end_ns = np.sort(np.where(planned & records.present("end_ns"), records["end_ns"], NEVER)[planned])
    edges = np.linspace(begin_ns + round(e2e_s * 1e9), now_ns, BINS + 1).astype(np.int64)
    come = np.diff(_counted(due_ns, edges))
    growth = come - np.diff(_counted(end_ns, edges))
    if growth.sum() <= (PATIENT_GROWTH if patient else EARLY_GROWTH) * come.sum():
        return False
    return bool(growth.mean() > (PATIENT_T if patient else EARLY_T) * growth.std(ddof=1) / np.sqrt(BINS))


def _counted(times_ns: NDArray[np.int64], at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.searchsorted(times_ns, at_ns, side="right").astype(np.float64)
