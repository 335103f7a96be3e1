"""Did the client shape what it measured? Judged from what it observed of itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sweep.measure.quantile import proportion_limits
from sweep.model import Finding, Health, Point
from sweep.records import Records

MERGED_READS = 0.01
REFILL = 0.01  # of the median E2E makes a refill late; so large a share of them may be
EMPTY = 0.01  # of the slots' time between an answer and the next request: what late refills take from the load
LATENESS = 0.05  # of the median TTFT
LAG = 0.05  # of the median ITL
BUSY = 0.9
SUSTAINED = 0.8  # of the events/s a worker was calibrated to sustain


def findings(point: Point, records: Records, open_loop: bool) -> Iterator[Finding]:
    health = point.health
    if health is None:
        return
    for why in _bound(point, records, health, open_loop):
        yield Finding(code="client-bound", data={"why": why})
    sent_together = (health.merged_read_share or 0.0) - _merged_by_us(point, health)
    if sent_together > MERGED_READS:
        yield Finding(code="coalesced", data={"share": sent_together})
    if (health.cpu_share or 0.0) > BUSY:
        yield Finding(code="client-busy", data={"share": health.cpu_share})
    if (health.calibrated_share or 0.0) > SUSTAINED:
        yield Finding(code="client-near-limit", data={"share": health.calibrated_share})
    if health.workers_lost:
        yield Finding(code="worker-lost", data={"count": health.workers_lost})
    if health.clock_steps:
        yield Finding(code="clock-step", data={"count": health.clock_steps})
    if health.keep_alive is False:
        yield Finding(code="keep-alive-off")
    if health.stamp_source == "user":
        yield Finding(code="user-stamps")


def _bound(point: Point, records: Records, health: Health, open_loop: bool) -> Iterator[str]:
    merged = _merged_by_us(point, health)
    if merged > MERGED_READS:
        yield f"{merged:.1%} of its reads held several chunks because it came late to them"
    e2e = median(point, "e2e_s")
    if not open_loop and e2e is not None:
        delay = refill_delays_s(point, records)
        late = int((delay > REFILL * e2e).sum())
        lost_s = float(delay.mean()) if len(delay) else 0.0
        empty = lost_s / (lost_s + e2e)
        if empty > EMPTY and proportion_limits(late / len(delay), len(delay))[0] > REFILL:
            yield f"slots stood empty for {empty:.1%} of the time, {late} of {len(delay)} for more than 1 % of a request"
    lateness, ttft = health.send_lateness_p99_s, median(point, "ttft_s")
    if open_loop and lateness is not None and ttft is not None and lateness > LATENESS * ttft:
        yield f"requests left {1e3 * lateness:.1f} ms late (p99) where TTFT is {1e3 * ttft:.0f} ms"
    lag, itl = health.loop_lag_p99_s, median(point, "itl_s")
    if health.stamp_source == "user" and lag is not None and itl is not None and lag > LAG * itl:
        yield f"its own time stamps are {1e3 * lag:.2f} ms late (p99) where ITL is {1e3 * itl:.1f} ms"


def refill_delays_s(point: Point, records: Records) -> NDArray[np.float64]:
    """How long requests sent inside the window waited for the client: their slot was free, their connection ready.

    A late refill delays no answer, it thins the load out: so the time lost counts, and the share of late refills with the
    confidence their number allows. The p99 of a few is only the worst of them.
    """
    window = point.window
    known = records.where(records.present("sent_ns") & records.present("planned_ns"))
    if window is None:
        return np.empty(0)
    sent_ns, free_ns = known["sent_ns"], known["planned_ns"]
    ready_ns = np.where(known.present("connected_ns"), np.maximum(known["connected_ns"], free_ns), free_ns)
    inside = (sent_ns >= window.begin_ns) & (sent_ns < window.end_ns)
    delays_s: NDArray[np.float64] = (sent_ns - ready_ns)[inside] / 1e9
    return delays_s


def _merged_by_us(point: Point, health: Health) -> float:
    """The share of reads whose chunks the client may have merged: only one that looks away for about a chunk gap can.

    Where it did not observe that read by read, all or none are taken to be its own, by how late its loop was.
    """
    if health.late_read_share is not None:
        return health.late_read_share
    lag, gap = health.loop_lag_p99_s, median(point, "chunk_gap_s")
    return (health.merged_read_share or 0.0) if lag is None or gap is None or lag > gap / 2 else 0.0


def median(point: Point, metric: str) -> float | None:
    return point.metrics[metric]["p50"].value
