"""Did the endpoint stay the same through the window? Needs two minutes: a shorter window cannot tell a drift from noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sweep.measure.chunks import counts_for_throughput
from sweep.measure.rates import binned, output_by_bin
from sweep.measure.steady import halves, trend
from sweep.model import Finding, Outcome, Window
from sweep.records import Records

Floats = NDArray[np.float64]

MIN_WINDOW_S = 120.0
BINS = 20
DRIFT_P = 0.005  # of the token rate
QUEUE_P = 0.001  # of TTFT: a queue near its capacity remembers for longer than the bins, and wanders without drifting
DRIFT_CHANGE = 0.05  # over the window: less is steady enough, whatever its p-value
HALVES_P = 0.001
HALVES_CHANGE = 0.05


def findings(records: Records, cohort: Records, window: Window | None) -> Iterator[Finding]:
    """drifting, else history-dependent, of the token rate and of TTFT."""
    if window is None or window.seconds < MIN_WINDOW_S:
        return
    named = {"output rate": _token_rate(records, window), "TTFT": _ttft(cohort, window)}
    series = {what: y for what, y in named.items() if y is not None and y.mean() > 0}
    wanted = {"output rate": DRIFT_P, "TTFT": QUEUE_P}
    slopes = {what: drift_per_minute(y, window.seconds, wanted[what]) for what, y in series.items()}
    drifts = {what: slope for what, slope in slopes.items() if slope is not None}
    for what, slope in drifts.items():
        yield Finding(code="drifting", data={"what": what, "per_minute": slope})
    if not drifts:
        for what, y in series.items():
            found = halves(y)
            if found.p < HALVES_P and abs(found.change) > HALVES_CHANGE:
                yield Finding(code="history-dependent", data={"what": what, "change": found.change})


def drift_per_minute(y: Floats, seconds: float, p: float = DRIFT_P) -> float | None:
    """Relative change a minute of a series of equal time bins, None when it does not drift."""
    found = trend(y)
    change = found.slope * len(y) / float(y.mean())
    return change / (seconds / 60) if found.p < p and abs(change) > DRIFT_CHANGE else None


def _token_rate(records: Records, window: Window) -> Floats | None:
    return output_by_bin(records.where(counts_for_throughput(records)), window, BINS)


def _ttft(cohort: Records, window: Window) -> Floats | None:
    """Mean TTFT of the requests due in each bin; None when a bin has none."""
    ok = (cohort["outcome"] == Outcome.OK) & cohort.present("first_ns")
    due_ns = cohort[window.due][ok]
    n = binned(due_ns, np.ones(len(due_ns)), window, BINS)
    if (n == 0).any():
        return None
    return binned(due_ns, cohort["first_ns"][ok] - due_ns, window, BINS) / n
