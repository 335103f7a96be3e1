"""Records made by hand: a closed loop whose truth is known, event by event."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from sweep import records
from sweep.model import Cell, Length, Limits, Load, Profile
from sweep.records import Records

S = 1_000_000_000
PROFILE = Profile(name="t", title="t", isl=Length(mean=100), osl=Length(mean=8))


def cell(kind: str = "closed", level: float = 4, start: str = "cold", **limits: Any) -> Cell:
    return Cell(
        index=0,
        profile=PROFILE,
        load=Load(kind=kind, level=level),  # type: ignore[arg-type]
        limits=Limits(**limits),
        start=start,  # type: ignore[arg-type]
        seed=1,
    )


def answer(
    request: int,
    sent_ns: int,
    *,
    ttft_ns: int = S // 10,
    tpot_ns: int = S // 100,
    osl: int = 8,
    worker: int = 0,
    outcome: str = "ok",
    **more: Any,
) -> dict[str, Any]:
    """One request as a row: `osl` tokens, one a chunk."""
    times = [sent_ns + ttft_ns + i * tpot_ns for i in range(osl)]
    row: dict[str, Any] = {
        "cell": 0, "repeat": 0, "request": request, "worker": worker, "planned_ns": sent_ns, "sent_ns": sent_ns,
        "first_ns": times[0], "first_answer_ns": times[0], "last_ns": times[-1], "end_ns": times[-1] + 1000,
        "isl_asked": 100, "isl": 100, "osl_asked": osl, "osl": osl, "token_source": "usage", "first_tokens": 1,
        "chunks": osl, "max_gap_ns": tpot_ns if osl > 1 else None, "retries": 0, "outcome": outcome, "status": 200,
        "chunk_ns": times, "chunk_tokens": [1] * osl,
    }  # fmt: skip
    return row | more


def failure(request: int, sent_ns: int, end_ns: int, worker: int = 0, outcome: str = "http_error") -> dict[str, Any]:
    return {
        "cell": 0, "repeat": 0, "request": request, "worker": worker, "planned_ns": sent_ns, "sent_ns": sent_ns,
        "end_ns": end_ns, "isl_asked": 100, "osl_asked": 8, "retries": 0, "outcome": outcome, "status": 500,
    }  # fmt: skip


def closed_rows(
    slots: int,
    until_ns: int,
    seed: int = 0,
    workers: int = 1,
    fail: float = 0.0,
    stagger_ns: int = S // 50,
    refill_ns: int = 50_000,
    **shape: Any,
) -> tuple[list[dict[str, Any]], list[int]]:
    """Rows of a closed loop and the slot of each; every request sent before `until_ns` ends."""
    rng = np.random.default_rng(seed)
    due = [(slot * stagger_ns, slot * stagger_ns, slot) for slot in range(slots)]  # when it sends, since when it is free
    heapq.heapify(due)
    rows: list[dict[str, Any]] = []
    owner: list[int] = []
    while due:
        at_ns, free_ns, slot = heapq.heappop(due)
        if at_ns >= until_ns:
            continue
        number, worker = len(rows), slot % workers
        if rng.random() < fail:
            row = failure(number, at_ns, at_ns + int(rng.integers(1, S // 20)), worker)
        else:
            ttft_ns = int(rng.integers(S // 20, S // 5))
            row = answer(number, at_ns, worker=worker, **({"ttft_ns": ttft_ns, "osl": int(rng.integers(4, 40))} | shape))
        rows.append(row | {"planned_ns": free_ns})
        owner.append(slot)
        heapq.heappush(due, (row["end_ns"] + int(rng.integers(1, refill_ns)), row["end_ns"], slot))
    return rows, owner


def closed(slots: int, until_ns: int, **how: Any) -> Records:
    return records.from_rows(closed_rows(slots, until_ns, **how)[0])
