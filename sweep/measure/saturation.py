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
STILL_TIMES = 10.0  # the usual longest gap: others' prompts make everybody wait, long ones a few times as long
ANSWERS = 0.02  # that stood still
SETTLED_E2E = 10.0  # latencies after which a full endpoint has come to rest
WAITING = 2.0  # times as long half of the requests wait as nine in ten did that opened the slots


def findings(cell: Cell, records: Records, cohort: Records, point: Point) -> Iterator[Finding]:
    """preempting; full; queued-start."""
    e2e_s, waited_s = point.metrics["e2e_s"]["mean"].value, point.metrics["ttft_s"]["p50"].value
    if point.window is None or e2e_s is None or waited_s is None:
        return
    settled = point.window.seconds >= SETTLED_E2E * e2e_s
    if preempting(cohort) and not settled:
        data = {"share": standing_still(cohort), "latencies": point.window.seconds / e2e_s}
        yield Finding(code="preempting", data=data)
    if point.mid_flight is None:
        return
    alone_s = opening_s(cell, records, point.mid_flight)
    if alone_s is not None and waited_s > WAITING * alone_s and not settled:
        yield Finding(code="full", data={"waited_s": waited_s, "alone_s": alone_s})
    if point.mid_flight < point.load.level:
        yield Finding(code="queued-start", data={"mid_flight": point.mid_flight, "slots": slots_of(point.load)})


def opening_s(cell: Cell, records: Records, mid_flight: int) -> float | None:
    """TTFT p90 of the slots that began in mid-flight, in s; a few at a time, they wait for nobody."""
    first = records["request"] < cell.first_request + mid_flight
    first &= (records["request"] >= cell.first_request) & records.present("first_ns")
    took_ns = (records["first_ns"] - records["sent_ns"])[first]
    return float(np.quantile(took_ns, 0.9, method="inverted_cdf")) / 1e9 if len(took_ns) else None


def preempting(cohort: Records) -> bool:
    return standing_still(cohort) > ANSWERS


def standing_still(cohort: Records) -> float:
    """The share of answers whose longest gap is above 5 % of their latency, a second, and ten times the usual longest gap.

    Of those in more than one chunk; where there is none, none is seen to stand still.
    """
    streamed = (cohort["outcome"] == Outcome.OK) & cohort.present("max_gap_ns") & (cohort["chunks"] > 1)
    if not streamed.any():
        return 0.0
    gap_ns, took_ns = cohort["max_gap_ns"][streamed], (cohort["last_ns"] - cohort["sent_ns"])[streamed]
    usual_ns = float(np.median(gap_ns))
    still = (gap_ns > STILL_SHARE * took_ns) & (gap_ns > STILL_NS) & (gap_ns > STILL_TIMES * usual_ns)
    return float(still.mean())
