"""Requests and tokens that meet an SLO, and whether the SLO holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.measure import quantile
from sweep.measure.rates import BINS, NOTHING, binned
from sweep.model import Bound, BoundResult, Estimate, Outcome, Slo, SloResult, Verdict3, Window
from sweep.records import Records

Bools = NDArray[np.bool_]


def limit_ns(bound: Bound) -> int:
    return round(bound.limit_s * 1e9)


def within(cohort: Records, bound: Bound, due: str) -> Bools:
    """Which requests keep the bound, inclusive, in whole ns; a failure never does.

    An answer of one token has no time per output token to exceed: it keeps a TPOT bound.
    """
    ok: Bools = (cohort["outcome"] == Outcome.OK) & cohort.present("first_ns") & cohort.present("last_ns")
    limit = limit_ns(bound)
    steps = np.where(cohort.present("osl"), cohort["osl"] - 1, 0)
    keeps: Bools
    match bound.metric:
        case "ttft":
            keeps = cohort["first_ns"] - cohort[due] <= limit
        case "e2e":
            keeps = cohort["last_ns"] - cohort[due] <= limit
        case "tpot":
            keeps = (steps <= 0) | (cohort["last_ns"] - cohort["first_ns"] <= limit * steps)
    return ok & keeps


def judge(cohort: Records, window: Window | None, slo: Slo) -> SloResult:
    """Goodput, attainment and verdict of the cohort (in sending order), failures in every denominator."""
    due = "sent_ns" if window is None else window.due
    kept = [within(cohort, bound, due) for bound in slo.bounds]
    good = np.logical_and.reduce(kept) if kept else cohort["outcome"] == Outcome.OK
    results = tuple(_bound_result(bound, inside) for bound, inside in zip(slo.bounds, kept, strict=True))
    tokens = np.where(cohort.present("osl"), cohort["osl"], 0)
    return SloResult(
        slo=slo.name,
        good=int(good.sum()),
        cohort=len(cohort),
        attainment=quantile.share(good),
        goodput_req_per_s=_per_s(cohort[due][good], np.ones(int(good.sum())), window),
        goodput_tok_per_s=_per_s(cohort[due][good], tokens[good], window),
        verdict=all_of(tuple(result.verdict for result in results)),
        bounds=results,
    )


def _per_s(due_ns: NDArray[np.int64], weight: NDArray[np.generic], window: Window | None) -> Estimate:
    if window is None:
        return NOTHING
    return quantile.rate(binned(due_ns, weight, window, BINS), window.seconds / BINS, len(due_ns))


def _bound_result(bound: Bound, inside: Bools) -> BoundResult:
    kept = quantile.share(inside)
    return BoundResult(bound=bound, share=kept, verdict=verdict(kept, bound.quantile))


def verdict(kept: Estimate, q: float | None) -> Verdict3:
    """A percentile bound says that at least a share q keeps it: decided when the interval of the share is clear of q.

    Without a percentile it speaks of the cohort itself: every request keeps it, or not.
    """
    if kept.value is None or kept.low is None or kept.high is None:
        return "undecided"
    if q is None:
        return "met" if kept.value == 1.0 else "missed"
    return "met" if kept.low >= q else "missed" if kept.high < q else "undecided"


def all_of(verdicts: tuple[Verdict3, ...]) -> Verdict3:
    if not verdicts or "undecided" in verdicts:
        return "missed" if "missed" in verdicts else "undecided"
    return "missed" if "missed" in verdicts else "met"
