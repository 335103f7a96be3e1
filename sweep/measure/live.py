"""What somebody watching a running cell sees of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.measure.demand import demanded_s
from sweep.measure.window import due_column
from sweep.model import Cell, Live, Outcome, Window
from sweep.records import Records

LIVE_S = 10.0  # what "now" means to somebody watching


def live(
    cell: Cell,
    done: Records,
    rows: Records,
    failed: NDArray[np.bool_],
    window: Window | None,
    end_ns: int | None,
    e2e_s: float | None,
    started_ns: int,
    now_ns: int,
) -> Live:
    recent_ns = now_ns - round(LIVE_S * 1e9)
    refused = int((done["outcome"] == Outcome.RATE_LIMITED.value).sum())
    fresh = rows.present("first_ns") & (rows["first_ns"] >= recent_ns)
    ttft_ns = (rows["first_ns"] - rows[due_column(cell.load)])[fresh]
    return Live(
        elapsed_s=(now_ns - started_ns) / 1e9,
        left_s=_left_s(cell, window, end_ns, e2e_s, started_ns, now_ns),
        ended=len(done),
        failed=int(failed.sum()) - refused,
        refused=refused,
        in_flight=int((rows.present("sent_ns") & ~rows.present("end_ns")).sum()),
        output_tok_per_s=_recent_tokens_per_s(rows, max(recent_ns, started_ns), now_ns),
        ttft_p50_s=float(np.median(ttft_ns)) / 1e9 if len(ttft_ns) else None,
        stage="start" if window is None else "window" if end_ns is None or end_ns > now_ns else "tail",
    )


def _left_s(
    cell: Cell, window: Window | None, end_ns: int | None, e2e_s: float | None, started_ns: int, now_ns: int
) -> float | None:
    """What is left, the tail of one E2E included; a cold start is expected to last two."""
    if e2e_s is None or (cell.limits.requests is not None and end_ns is None):
        return None
    begin_ns = window.begin_ns if window is not None else max(now_ns, started_ns + round(2e9 * e2e_s))
    until_ns = end_ns if end_ns is not None and cell.limits.duration_s else begin_ns + round(demanded_s(cell, e2e_s) * 1e9)
    return max(0.0, min((until_ns - now_ns) / 1e9, cell.limits.cap_s) + e2e_s)


def _recent_tokens_per_s(rows: Records, since_ns: int, now_ns: int) -> float | None:
    """Each answer's tokens spread evenly from its first to its last: near enough for the eye, and no chunk is read."""
    live = rows.present("last_ns") & (rows["last_ns"] > since_ns)
    if now_ns <= since_ns or not live.any():
        return None
    osl, chunks = rows["osl"][live], rows["chunks"][live]
    tokens = np.where(rows.present("osl")[live], osl, np.where(rows.present("chunks")[live], chunks, 0)).astype(np.float64)
    first_ns, last_ns = rows["first_ns"][live], rows["last_ns"][live]
    inside = (last_ns - np.maximum(first_ns, since_ns)) / np.maximum(last_ns - first_ns, 1)
    return float((tokens * np.where(last_ns > first_ns, inside, 1.0)).sum() / ((now_ns - since_ns) / 1e9))
