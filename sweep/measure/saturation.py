"""Is the endpoint full? Then requests wait for others to end, or make room for them, and its state settles over many latencies.

Within a window of a few latencies such a state may look steady and yet be far from where it will come to: no test of the window
alone tells. What tells is that requests wait far longer than those did that opened the slots, with larger prompts, and that answers
stand still midway, as where a full memory preempts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.measure.window import slots_of
from sweep.model import Cell, Finding, Outcome, Point
from sweep.records import Records

STILL_SHARE = 0.05  # of an answer's latency
STILL_NS = 1_000_000_000  # what a network may well do is no preemption
STILL_TIMES, ANSWERS = 10.0, 0.02  # as long as usual, since others' prompts make everybody wait; how many answers
STILL_TIMES_FULL, ANSWERS_FULL = 3.0, 0.005  # where requests are seen to wait, less says as much
SETTLED_E2E = 10.0  # latencies after which a full endpoint has come to rest
WAITING = 2.0  # times as long half of the requests wait as nine in ten did that opened the slots


def findings(cell: Cell, records: Records, cohort: Records, point: Point) -> Iterator[Finding]:
    """preempting; full; queued-start."""
    e2e_s, waited_s = point.metrics["e2e_s"]["mean"].value, point.metrics["ttft_s"]["p50"].value
    if point.window is None or e2e_s is None or waited_s is None:
        return
    alone_s = opening_s(cell, records, point.mid_flight or 0)
    full = alone_s is not None and waited_s > WAITING * alone_s
    still = standing_still(cohort, STILL_TIMES_FULL if full else STILL_TIMES)
    if point.window.seconds < SETTLED_E2E * e2e_s:
        if still > (ANSWERS_FULL if full else ANSWERS):
            yield Finding(code="preempting", data={"share": still, "latencies": point.window.seconds / e2e_s})
        if full:
            yield Finding(code="full", data={"waited_s": waited_s, "alone_s": alone_s})
    if point.mid_flight is not None and point.mid_flight < point.load.level:
        yield Finding(code="queued-start", data={"mid_flight": point.mid_flight, "slots": slots_of(point.load)})


def opening_s(cell: Cell, records: Records, mid_flight: int) -> float | None:
    """TTFT p90 of the slots that began in mid-flight, in s; a few at a time, they wait for nobody."""
    first = records["request"] < cell.first_request + mid_flight
    first &= (records["request"] >= cell.first_request) & records.present("first_ns")
    took_ns = (records["first_ns"] - records["sent_ns"])[first]
    return float(np.quantile(took_ns, 0.9, method="inverted_cdf")) / 1e9 if len(took_ns) else None


def standing_still(cohort: Records, times: float) -> float:
    """The share of answers whose longest gap is above 5 % of their latency, a second, and so many times the usual longest gap.

    Of those in more than one chunk; where there is none, none is seen to stand still.
    """
    streamed = (cohort["outcome"] == Outcome.OK) & cohort.present("max_gap_ns") & (cohort["chunks"] > 1)
    if not streamed.any():
        return 0.0
    gap_ns, took_ns = cohort["max_gap_ns"][streamed], (cohort["last_ns"] - cohort["sent_ns"])[streamed]
    usual_ns = float(np.median(gap_ns))
    still = (gap_ns > STILL_SHARE * took_ns) & (gap_ns > STILL_NS) & (gap_ns > times * usual_ns)
    return float(still.mean())
