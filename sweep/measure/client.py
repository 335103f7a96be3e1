"""Did the client shape what it measured? Judged from what it observed of itself."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.model import Finding, Health, Point

MERGED_READS = 0.01
REFILL = 0.01  # of the median E2E
LATENESS = 0.05  # of the median TTFT
LAG = 0.05  # of the median ITL
BUSY = 0.9
SUSTAINED = 0.8  # of the events/s a worker was calibrated to sustain


def findings(point: Point, open_loop: bool) -> Iterator[Finding]:
    health = point.health
    if health is None:
        return
    for why in _bound(point, health, open_loop):
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


def _bound(point: Point, health: Health, open_loop: bool) -> Iterator[str]:
    merged = _merged_by_us(point, health)
    if merged > MERGED_READS:
        yield f"{merged:.1%} of its reads held several chunks because it came late to them"
    delay, e2e = health.refill_delay_p99_s, median(point, "e2e_s")
    if not open_loop and delay is not None and e2e is not None and delay > REFILL * e2e:
        yield f"slots were empty for {1e3 * delay:.1f} ms (p99) between requests of {1e3 * e2e:.0f} ms"
    late, ttft = health.send_lateness_p99_s, median(point, "ttft_s")
    if open_loop and late is not None and ttft is not None and late > LATENESS * ttft:
        yield f"requests left {1e3 * late:.1f} ms late (p99) where TTFT is {1e3 * ttft:.0f} ms"
    lag, itl = health.loop_lag_p99_s, median(point, "itl_s")
    if health.stamp_source == "user" and lag is not None and itl is not None and lag > LAG * itl:
        yield f"its own time stamps are {1e3 * lag:.2f} ms late (p99) where ITL is {1e3 * itl:.1f} ms"


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
