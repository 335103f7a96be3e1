"""One cell's records into one point of the curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sweep.measure import histogram, joint, jointcode, quantile, validity
from sweep.measure.chunks import delivered_tokens, gaps, itl_ns, max_stall_ns, smooth_tok_per_s
from sweep.measure.goodput import judge
from sweep.measure.latency import latencies_ns
from sweep.measure.rates import concurrency, rates
from sweep.measure.reasons import UNRESOLVED
from sweep.measure.window import due_column
from sweep.model import Cell, Endpoint, Estimate, Health, LengthStats, Outcome, Phase, Point, Slo, Window
from sweep.records import Records

Floats = NDArray[np.float64]


def measure(
    cell: Cell,
    records: Records,
    window: Window | None,
    slos: Sequence[Slo],
    health: Health | None,
    endpoint: Endpoint | None,
    started_at: str,
    ended_reason: str,
    mid_flight: int | None = None,
) -> Point:
    """Everything a curve keeps of a cell. `records` carry their phases; `ended_reason` is the decision that ended the cell.

    `mid_flight`: how many slots began in mid-flight, None where that was not asked.
    """
    due = due_column(cell.load)
    if window is not None:
        window = msgspec.structs.replace(
            window, end_reason=ended_reason, resolved=window.resolved and ended_reason not in UNRESOLVED
        )
    cohort = in_order(records, records["phase"] == Phase.MEASURED, due)
    ok = cohort.where(cohort["outcome"] == Outcome.OK)
    tokens = delivered_tokens(ok)
    found = gaps(ok, tokens)
    latencies = latencies_ns(ok, due)
    latencies |= {
        "itl": itl_ns(found),
        "chunk_gap": found.ns.astype(np.float64),
        "max_stall": max_stall_ns(ok).astype(np.float64),
    }
    metrics = {f"{name}_s": quantile.summary(ns / 1e9) for name, ns in latencies.items()}
    metrics["interactivity_tok_per_s"] = inverse(metrics["tpot_s"])
    metrics["smooth_tok_per_s"] = faster_is_better(smooth_tok_per_s(ok, tokens))
    histograms = {f"{name}_s": histogram.record(ns) for name, ns in latencies.items()}
    in_flight, peak = concurrency(records, window)
    point = Point(
        id=cell.id,
        cell=cell.index,
        load=cell.load,
        repeat=cell.repeat,
        start=cell.start,
        started_at=started_at,
        window=window,
        cohort=len(cohort),
        outcomes=counts(cohort["outcome"]),
        outcomes_all=counts(records["outcome"]),
        statuses=counts(cohort["status"][cohort.present("status")]),
        isl_asked=lengths(ok, "isl_asked"),
        isl=lengths(ok, "isl"),
        osl_asked=lengths(ok, "osl_asked"),
        osl=lengths(ok, "osl"),
        cached_share=cached_share(ok),
        token_sources=counts(ok["token_source"]),
        metrics=metrics,
        rates=rates(records, window),
        concurrency=in_flight,
        concurrency_peak=peak,
        histograms={name: histogram.encode(one) for name, one in histograms.items()},
        joint=jointcode.encode(joint.build(cohort, due)),
        slos=tuple(judge(cohort, window, slo) for slo in slos),
        health=health,
        findings=(),
        busy_s=busy_s(records),
        mid_flight=mid_flight,
        loadgen={name: loadgen(latencies[name.removesuffix("_s")] / 1e9) for name in ("ttft_s", "tpot_s", "e2e_s")},
    )
    lost = sum(one.lost for one in histograms.values())
    noticed = validity.findings(cell, records, cohort, point, endpoint, slos, ended_reason, lost)
    return msgspec.structs.replace(point, findings=noticed, disqualified=validity.disqualifies(noticed))


def busy_s(records: Records) -> float | None:
    """From the first request sent to the last one's end."""
    sent, ended = records.present("sent_ns"), records.present("end_ns")
    if not (sent & ended).any():
        return None
    return float(records["end_ns"][ended].max() - records["sent_ns"][sent].min()) / 1e9


def loadgen(x: Floats) -> dict[str, float | None]:
    """MLPerf LoadGen's early-stopping estimate of each percentile that it reports, null below its floor."""
    return {name: quantile.loadgen_estimate(x, quantile.QUANTILES[name]) for name in ("p50", "p90", "p95", "p99", "p999")}


def in_order(records: Records, keep: NDArray[np.bool_], due: str) -> Records:
    """The kept rows in the order in which they were due; ties by number."""
    rows = np.flatnonzero(keep)
    return records.where(rows[np.lexsort((records["request"][rows], records[due][rows]))])


def counts(values: NDArray[np.generic]) -> dict[str, int]:
    """How often each value occurs; what is missing is "unknown"."""
    return {"unknown" if value is None else str(value): n for value, n in sorted(Counter(values.tolist()).items(), key=str)}


def lengths(records: Records, column: str) -> LengthStats:
    values = np.sort(records[column][records.present(column)])
    if len(values) == 0:
        return LengthStats(n=0)
    middle = int(values[quantile.rank(0.5, len(values)) - 1])
    return LengthStats(n=len(values), mean=float(values.mean()), min=int(values[0]), p50=middle, max=int(values[-1]))


def cached_share(ok: Records) -> float | None:
    """Share of the prompt tokens that the server says came from its cache; None when it never says."""
    said = ok.present("cached_tokens") & ok.present("isl")
    prompt = int(ok["isl"][said].sum())
    return float(ok["cached_tokens"][said].sum()) / prompt if prompt else None


def inverse(seconds: dict[str, Estimate]) -> dict[str, Estimate]:
    """Tokens per second from seconds per token: p90 is what nine requests in ten had at least."""
    swapped = {"min": "max", "max": "min"}
    return {swapped.get(name, name): _inverted(one) for name, one in seconds.items() if name != "mean"}


def _inverted(one: Estimate) -> Estimate:
    low = 0.0 if one.low is not None and one.high is None else _over(one.high)
    return msgspec.structs.replace(one, value=_over(one.value), low=low, high=_over(one.low))


def _over(x: float | None) -> float | None:
    return 1.0 / x if x else None


def faster_is_better(pace: Floats) -> dict[str, Estimate]:
    """Percentiles of a pace, as of `inverse`. Infinite paces are null: nobody can say how fast such a reader may be."""
    slowness = np.divide(1.0, pace, out=np.full(len(pace), np.inf), where=pace > 0)
    return inverse(quantile.summary(slowness))
