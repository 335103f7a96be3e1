"""Is the point to be trusted? What was noticed, by code of `findings/`; some findings disqualify the point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sweep.findings import weight
from sweep.measure import client, precision, saturation, steadiness
from sweep.measure.quantile import QUANTILES, is_few, rank
from sweep.measure.reasons import ABORTED, CAP, OUTDONE, OVERLOAD, TIME_CAP, TOKEN_CAP
from sweep.measure.window import is_open, slots_of
from sweep.model import Cell, Endpoint, Estimate, Finding, Gate, Outcome, Point, Slo, TokenSource, failures
from sweep.records import Records

FAILURES = 0.01
LENGTH = 0.01
PROMPT = 0.05
CONCURRENCY = 0.05
BUSY = (429, 503)  # too many requests, overloaded
CACHED = 0.05
LITTLE = 0.05
COUNTED_BY_SERVER = {TokenSource.USAGE.value, TokenSource.CONTINUOUS_USAGE.value, TokenSource.TOKEN_IDS.value}


def findings(
    cell: Cell,
    records: Records,
    cohort: Records,
    point: Point,
    endpoint: Endpoint | None,
    slos: Sequence[Slo],
    ended_reason: str,
    lost: int,
) -> tuple[Finding, ...]:
    """Everything noticed about a measured cell. `lost`: durations that no histogram holds."""
    noticed = [
        *_outcomes(point, records, cohort, ended_reason),
        *_refused(cohort if len(cohort) else records),
        *client.findings(point, records, is_open(cell.load)),
        *steadiness.findings(records, cohort, point.window),
        *_load(cell, records, point),
        *_lengths(cohort, point, endpoint),
        *_cache(cell, point, endpoint),
        *_tokens(cohort, point),
        *_samples(point, slos),
        *_precision(cell, point, ended_reason),
    ]
    if lost:
        noticed.append(Finding(code="out-of-range", data={"count": lost}))
    noticed += saturation.findings(cell, records, cohort, point)
    return tuple(noticed)


def disqualifies(noticed: Sequence[Finding]) -> bool:
    return any(weight(one) == "disqualifies" for one in noticed)


def _outcomes(point: Point, records: Records, cohort: Records, ended_reason: str) -> Iterator[Finding]:
    overloaded = ended_reason == OVERLOAD
    if overloaded:
        yield Finding(code="overloaded", data={"rate": point.load.level})
    elif point.outcomes_all.get(Outcome.OK, 0) == 0:
        yield Finding(code="no-success", data=_told(point.outcomes_all, records))
    elif ended_reason in ABORTED or point.window is None:
        yield Finding(code="aborted", data={"why": ended_reason})
    failed = failures(point.outcomes, overloaded)
    share = sum(failed.values()) / point.cohort if point.cohort else 0.0
    if share > FAILURES:
        yield Finding(code="failures", data={"share": share, **_told(failed, cohort)})
    hung = point.outcomes_all.get(Outcome.TIMEOUT_IDLE, 0) + point.outcomes_all.get(Outcome.TIMEOUT_DEADLINE, 0)
    if hung:
        yield Finding(code="hung", data={"count": hung})


def _refused(rows: Records) -> Iterator[Finding]:
    """What the endpoint would not take: its capacity, apart from failures, and how long it asked to wait. null: unreadable."""
    refused = rows["outcome"] == Outcome.RATE_LIMITED
    count = int(refused.sum())
    if not count:
        return
    waits_s = np.sort(rows["retry_after_s"][refused & rows.present("retry_after_s")]).tolist()
    named = {"retry_after_s": rank(0.5, len(waits_s)) - 1, "retry_after_min_s": 0, "retry_after_max_s": -1}
    waits = {name: waits_s[place] if waits_s else None for name, place in named.items()}
    yield Finding(code="rate-limited", data={"count": count, "share": count / len(rows), **waits})


def _told(outcomes: dict[str, int], rows: Records) -> dict[str, Any]:
    """`what`: these outcomes of the rows, HTTP errors by status. `busy`: those that turn a request away as too much, if any."""
    status = rows["status"][(rows["outcome"] == Outcome.HTTP_ERROR) & rows.present("status")]
    by_status = {int(code): int(count) for code, count in zip(*np.unique(status, return_counts=True), strict=True)}
    named = {name: count for name, count in outcomes.items() if name != Outcome.HTTP_ERROR or not by_status}
    named |= {f"http_error({code})": count for code, count in by_status.items()}
    listed = [f"{count} {name}" for name, count in sorted(named.items(), key=lambda item: (-item[1], item[0]))]
    busy = sum(by_status.get(code, 0) for code in BUSY)
    return {"what": ", ".join(listed) or "none was sent"} | ({"busy": busy} if busy else {})


def _load(cell: Cell, records: Records, point: Point) -> Iterator[Finding]:
    window, held = point.window, point.concurrency.value
    if window is None or held is None:
        return
    if window.end_reason in (CAP, TOKEN_CAP, TIME_CAP) and not window.resolved:
        yield Finding(code="unresolved", data={"seconds": window.seconds, "why": window.end_reason})
    if not is_open(cell.load) and cell.load.kind != "offline":
        asked = slots_of(cell.load)
        if abs(held - asked) > CONCURRENCY * asked or (point.concurrency_peak or 0) > asked:
            yield Finding(code="concurrency", data={"mean": held, "asked": asked})
    ended = records.present("sent_ns") & (records["end_ns"] >= window.begin_ns) & (records["end_ns"] < window.end_ns)
    took_ns = (records["end_ns"] - records["sent_ns"])[ended]
    if len(took_ns):
        length_ns = window.end_ns - window.begin_ns
        expected = int(took_ns.sum()) / length_ns  # throughput times mean latency
        if abs(held - expected) > max(LITTLE, int(took_ns.max()) / length_ns) * max(held, expected):
            yield Finding(code="littles-law", data={"held": held, "expected": expected})
    retried = int(records["retries"][records.present("retries")].sum())
    if retried:
        yield Finding(code="retries", data={"count": retried})


def _lengths(cohort: Records, point: Point, endpoint: Endpoint | None) -> Iterator[Finding]:
    answered = (cohort["outcome"] == Outcome.OK) | (cohort["outcome"] == Outcome.WRONG_LENGTH)
    both = answered & cohort.present("osl") & cohort.present("osl_asked")
    if both.any():
        realised, asked = float(cohort["osl"][both].mean()), float(cohort["osl_asked"][both].mean())
        honours = endpoint is not None and endpoint.osl_honoured is True
        if abs(realised - asked) > LENGTH * asked:
            code = "osl-short" if honours else "osl-free"
            yield Finding(code=code, data={"realised": realised, "asked": asked})
    isl, isl_asked = point.isl.mean, point.isl_asked.mean
    if isl is not None and isl_asked is not None and abs(isl - isl_asked) > PROMPT * isl_asked:
        yield Finding(code="isl-off", data={"realised": isl, "asked": isl_asked})


def _cache(cell: Cell, point: Point, endpoint: Endpoint | None) -> Iterator[Finding]:
    if point.cached_share is None or not point.isl.mean:
        return
    template = endpoint.calibration.template_tokens / point.isl.mean if endpoint is not None else 0.0
    if point.cached_share > cell.profile.prefix_share + template + CACHED:
        yield Finding(code="cached", data={"share": point.cached_share})


def _tokens(cohort: Records, point: Point) -> Iterator[Finding]:
    sources = sorted(point.token_sources)
    if len(sources) > 1 or not COUNTED_BY_SERVER.issuperset(sources):
        yield Finding(code="token-source", data={"what": " and ".join(sources)})
    ok = cohort.where((cohort["outcome"] == Outcome.OK) & cohort.present("osl") & (np.diff(cohort.chunk_start) > 0))
    if len(ok) == 0:
        return
    usage, seen = int(ok["osl"].sum()), int(ok.chunk_tokens.sum())
    if abs(usage - seen) > max(0.02 * usage, len(ok)):  # one token of each answer may have no text
        yield Finding(code="usage-mismatch", data={"usage": usage, "chunks": seen})
    first = ok["first_tokens"][ok.present("first_tokens") & (ok["chunks"] > 1)]
    if len(first) and float(first.mean()) > 1.0:
        yield Finding(code="first-chunk", data={"tokens": float(first.mean())})
    later = np.delete(ok.chunk_tokens, ok.chunk_start[1:] - 1)  # an answer's last chunk holds what is left
    if len(later) and float(later.mean()) > 1.05 and float(later.std()) > 0.1 * float(later.mean()):
        yield Finding(code="speculation", data={"tokens": float(later.mean())})


def _precision(cell: Cell, point: Point, ended_reason: str) -> Iterator[Finding]:
    """What the cell was asked to know and does not, and how much longer that would take, unless nobody needs to know."""
    if point.window is None or ended_reason in ABORTED or not (cell.limits.gates or cell.limits.slos):
        return
    e2e_s = point.metrics["e2e_s"]["mean"].value
    if ended_reason == OUTDONE and e2e_s:
        yield Finding(code="outdone", data={"latencies": point.window.seconds / e2e_s})
        return
    known = [precision.of_interval(gate, _estimate(point, gate)) for gate in cell.limits.gates]
    asked = {slo.name for slo in cell.limits.slos}
    for result in point.slos:
        if result.slo in asked:
            percentiles = [one for one in result.bounds if one.bound.quantile is not None]
            known += [precision.of_share(result.slo, one.bound, one.share) for one in percentiles]
    left = [one for one in known if not one.held]
    if left:
        more = max(one.longer for one in left) - 1
        what = ", ".join(f"{one.what} {one.found}" for one in left)
        yield Finding(code="imprecise", data={"what": what, "seconds": more * point.window.seconds})


def _estimate(point: Point, gate: Gate) -> Estimate:
    if gate.quantile is None:
        return point.rates[gate.metric]
    return point.metrics[gate.metric][next(name for name, q in QUANTILES.items() if q == gate.quantile)]


def _samples(point: Point, slos: Sequence[Slo]) -> Iterator[Finding]:
    """Few for the median, p90, or a percentile that an SLO asks for."""
    n = point.outcomes.get(Outcome.OK, 0)
    asked = {bound.quantile for slo in slos for bound in slo.bounds if bound.quantile is not None}
    short = sorted(q for q in asked | {QUANTILES["p50"], QUANTILES["p90"]} if is_few(q, n))
    if short and n:
        yield Finding(code="few", data={"n": n, "what": ", ".join(f"p{100 * q:g}" for q in short)})
