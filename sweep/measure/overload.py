"""Does the backlog of an open loop grow without bound? Then the answer is "offered > capacity", not a latency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.measure.slots import NEVER
from sweep.records import Records

SLICES = 10


def overloaded(records: Records, e2e_s: float | None, now_ns: int) -> bool:
    """Arrivals outrun completions: by 5 % and more after max(60 s, 3 E2E, 2,000 arrivals), by 25 % after 20 s and 400.

    Growth is the mean number unanswered in the last tenth of the time since the first E2E, less that in the first tenth,
    against the arrivals between: at 1.1× capacity it is 8 %, at 1.5× 30 %. A stationary queue stays below because its own
    fluctuation is small against thousands of arrivals; the time asked for is what keeps a correlated one from alarming.
    """
    planned = records.present("planned_ns")
    due_ns = np.sort(records["planned_ns"][planned])
    if len(due_ns) < 400 or e2e_s is None:
        return False
    elapsed_s = (now_ns - int(due_ns[0])) / 1e9
    patient = elapsed_s >= max(60.0, 3 * e2e_s) and len(due_ns) >= 2000
    if not patient and elapsed_s < max(20.0, 3 * e2e_s):
        return False
    ended = planned & records.present("end_ns")
    end_ns = np.sort(np.where(ended, records["end_ns"], NEVER)[planned])
    edges = np.linspace(int(due_ns[0]) + round(e2e_s * 1e9), now_ns, 10 * SLICES + 1).astype(np.int64)
    backlog = _counted(due_ns, edges) - _counted(end_ns, edges)
    growth = float(backlog[-SLICES:].mean() - backlog[:SLICES].mean())
    arrivals = float(_counted(due_ns, edges[[0, -1]]) @ np.array([-1.0, 1.0])) * (1 - 1 / SLICES)
    return arrivals > 0 and growth / arrivals > (0.05 if patient else 0.25)


def _counted(times_ns: NDArray[np.int64], at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.searchsorted(times_ns, at_ns, side="right").astype(np.float64)
