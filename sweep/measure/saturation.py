"""Is the endpoint full? Then requests wait for others to end, or make room for them, and its state settles over many latencies.

Within a window of a few latencies such a state may look steady and still be far from where it will come to: no test of the window
alone tells. What tells is the queue met at the opening, and answers that stood still midway, as where a full memory preempts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.measure.window import slots_of
from sweep.model import Finding, Outcome, Point
from sweep.records import Records

STILL_SHARE = 0.05  # of an answer's latency
STILL_NS = 1_000_000_000  # what a network may well do is no preemption
STILL_TIMES = 10.0  # the usual longest gap: others' prompts make everybody wait, long ones a few times as long
ANSWERS = 0.02  # that stood still
SETTLED_E2E = 10.0  # latencies after which a full endpoint has come to rest


def findings(cohort: Records, point: Point) -> Iterator[Finding]:
    """preempting; queued-start."""
    if point.window is None:
        return
    still = standing_still(cohort)
    e2e_s = point.metrics["e2e_s"]["mean"].value
    if still is not None and still > ANSWERS and e2e_s is not None and point.window.seconds < SETTLED_E2E * e2e_s:
        yield Finding(code="preempting", data={"share": still, "latencies": point.window.seconds / e2e_s})
    if point.mid_flight is not None and point.mid_flight < point.load.level:
        yield Finding(code="queued-start", data={"mid_flight": point.mid_flight, "slots": slots_of(point.load)})


def standing_still(cohort: Records) -> float | None:
    """The share of answers whose longest gap is above 5 % of their latency, a second, and ten times the usual longest gap.

    None where no answer came in more than one chunk.
    """
    streamed = (cohort["outcome"] == Outcome.OK) & cohort.present("max_gap_ns") & (cohort["chunks"] > 1)
    if not streamed.any():
        return None
    gap_ns, took_ns = cohort["max_gap_ns"][streamed], (cohort["last_ns"] - cohort["sent_ns"])[streamed]
    usual_ns = float(np.median(gap_ns))
    still = (gap_ns > STILL_SHARE * took_ns) & (gap_ns > STILL_NS) & (gap_ns > STILL_TIMES * usual_ns)
    return float(still.mean())
