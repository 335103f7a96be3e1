"""What the client notices about itself while it keeps time. It observes; `measure/validity.py` judges."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from time import monotonic_ns, process_time_ns

import numpy as np

from sweep.load.look import Look, Reads
from sweep.load.timer import Alarm
from sweep.load.wire import Wire
from sweep.model import Health

PROBE_NS = 7_000_000  # no divisor of a common decode step, so that it does not march with one
RECHECK_NS = 1_000_000_000


class Observer:
    """Watches one shard of one cell, on the running loop, from creation to `health`."""

    def __init__(self, wire: Wire, look: Look | None = None) -> None:
        """`look` is the running loop's selector."""
        self.reads = Reads(look)
        self.lateness_ns: list[int] = []  # sent − planned of open loops
        self.refill_ns: list[int] = []  # a slot's end → next sent
        self._wire = wire
        self._look = look
        self._lag_ns: list[int] = []
        self._started_ns = monotonic_ns()
        self._cpu_ns = process_time_ns()
        self._machine = machine_ticks()
        self._gc_passes = gc_passes()
        self._due_ns = self._started_ns + PROBE_NS
        self._recheck_ns = self._started_ns + RECHECK_NS
        self._alarm = Alarm(self._probe)
        self._alarm.set(self._due_ns)

    def _probe(self) -> None:
        now = monotonic_ns()
        self._lag_ns.append(max(0, now - self._due_ns))
        if self._look is not None:
            self._look.note(self._due_ns)
        if now >= self._recheck_ns:
            self._wire.recheck()
            self._recheck_ns = now + RECHECK_NS
        self._due_ns = monotonic_ns() + PROBE_NS
        self._alarm.set(self._due_ns)

    def close(self) -> None:
        self._alarm.close()

    def health(self, keep_alive: bool) -> Health:
        elapsed_ns = max(1, monotonic_ns() - self._started_ns)
        late, lag, wire = _quantiles_s(self.lateness_ns), _quantiles_s(self._lag_ns), self._wire
        held = np.array(self.reads.counts[1:])
        steal = total = 0
        if self._machine is not None and (machine := machine_ticks()) is not None:
            steal, total = machine[0] - self._machine[0], machine[1] - self._machine[1]
        return Health(
            stamp_source="kernel" if wire.kernel and wire.unstamped < max(1, wire.reads) else "user",
            stamped_share=1 - wire.unstamped / wire.reads if wire.reads else None,
            events_per_read_p99=_count_quantile(held, 0.99),
            merged_read_share=float(held[1:].sum() / held.sum()) if held.sum() else None,
            late_read_share=float(self.reads.late / held.sum()) if held.sum() and self.reads.late is not None else None,
            refill_delay_p99_s=_quantiles_s(self.refill_ns)[1],
            send_lateness_p50_s=late[0],
            send_lateness_p99_s=late[1],
            send_lateness_max_s=late[2],
            loop_lag_p50_s=lag[0],
            loop_lag_p99_s=lag[1],
            loop_lag_max_s=lag[2],
            cpu_share=(process_time_ns() - self._cpu_ns) / elapsed_ns,
            steal_share=steal / total if total else None,
            gc_passes=gc_passes() - self._gc_passes,
            clock_steps=wire.steps,
            connections=wire.opened,
            keep_alive=keep_alive,
            read_bytes_max=wire.read_bytes,
        )


def merged(parts: Sequence[Health]) -> Health | None:
    """Several workers as one: counts add, everything else is the worst of them."""
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]

    def worst(name: str) -> float | None:
        return max((value for part in parts if (value := getattr(part, name)) is not None), default=None)

    def total(name: str) -> int:
        return sum(getattr(part, name) or 0 for part in parts)

    return Health(
        stamp_source="kernel" if all(part.stamp_source == "kernel" for part in parts) else "user",
        stamped_share=min((part.stamped_share for part in parts if part.stamped_share is not None), default=None),
        events_per_read_p99=worst("events_per_read_p99"),
        merged_read_share=worst("merged_read_share"),
        late_read_share=worst("late_read_share"),
        refill_delay_p99_s=worst("refill_delay_p99_s"),
        send_lateness_p50_s=worst("send_lateness_p50_s"),
        send_lateness_p99_s=worst("send_lateness_p99_s"),
        send_lateness_max_s=worst("send_lateness_max_s"),
        loop_lag_p50_s=worst("loop_lag_p50_s"),
        loop_lag_p99_s=worst("loop_lag_p99_s"),
        loop_lag_max_s=worst("loop_lag_max_s"),
        cpu_share=worst("cpu_share"),
        steal_share=worst("steal_share"),
        gc_passes=total("gc_passes"),
        clock_steps=total("clock_steps"),
        connections=total("connections"),
        keep_alive=all(part.keep_alive for part in parts),
        calibrated_share=worst("calibrated_share"),
        read_bytes_max=max(part.read_bytes_max or 0 for part in parts) or None,
        workers=len(parts),
    )


def machine_ticks() -> tuple[int, int] | None:
    """(stolen, all) CPU ticks of this machine so far; None where /proc does not tell."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    return (ticks[7], sum(ticks)) if len(ticks) == 8 else None


def gc_passes() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def _quantiles_s(samples_ns: Sequence[int]) -> tuple[float | None, float | None, float | None]:
    """(p50, p99, max) in seconds."""
    if not samples_ns:
        return None, None, None
    p50, p99 = np.quantile(np.array(samples_ns), (0.5, 0.99), method="inverted_cdf") / 1e9
    return float(p50), float(p99), max(samples_ns) / 1e9


def _count_quantile(counts: np.ndarray[tuple[int], np.dtype[np.int64]], q: float) -> float | None:
    """The q-quantile of values 1, 2, … that occurred `counts` times."""
    total = counts.sum()
    return float(np.searchsorted(np.cumsum(counts), q * total) + 1) if total else None
