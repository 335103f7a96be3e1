"""A request in virtual flight, and its row of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.model import Outcome, TokenSource
from sweep.sim import faults
from sweep.sim.sequence import Ints, Sequence

REFUSED = {"rate_limited": (Outcome.RATE_LIMITED, 429), "unavailable": (Outcome.HTTP_ERROR, 503)}
BROKEN = {"error_event": Outcome.STREAM_ERROR, "truncated": Outcome.TRUNCATED, "reset": Outcome.TRUNCATED}
"""What a client sees of a fault. Faults that only change bytes change nothing in virtual time."""


@dataclass(slots=True, eq=False)
class Flight:
    """A request in flight: its sequence, what was asked, and how it will end."""

    sequence: Sequence
    planned_ns: int
    isl: int
    osl: int
    outcome: Outcome = Outcome.OK
    status: int = 200
    units: int = 1  # of work that each of its emissions brings
    pause_ns: int = 0  # closed loop: how long its slot waited after failures


def row(flight: Flight, times_ns: Ints, tokens: Ints, reasoning: float) -> dict[str, Any]:
    """The columns of a request that emitted `tokens` at `times_ns`, of which the first share was `reasoning`."""
    sequence = flight.sequence
    tokens = tokens * flight.units
    emitted = int(tokens.sum())
    told: dict[str, Any] = {
        "request": sequence.request,
        "planned_ns": flight.planned_ns,
        "sent_ns": flight.planned_ns,
        "isl_asked": flight.isl,
        "osl_asked": flight.osl,
        "osl": emitted if flight.status == 200 else None,
        "token_source": TokenSource.UNKNOWN.value,
        "chunks": len(times_ns),
        "retries": 0,
        "status": flight.status,
        "retry_after_s": faults.RETRY_AFTER_S if flight.outcome is Outcome.RATE_LIMITED else None,
        "chunk_ns": times_ns,
        "chunk_tokens": tokens,
    }
    if not emitted:
        return told
    answer = int(np.searchsorted(np.cumsum(tokens), round(reasoning * flight.osl), side="right"))
    return told | {
        "isl": flight.isl,
        "first_ns": times_ns[0],
        "first_answer_ns": times_ns[answer] if answer < len(times_ns) else None,
        "last_ns": times_ns[-1],
        "token_source": TokenSource.USAGE.value,
        "first_tokens": tokens[0],
        "cached_tokens": sequence.cached,
        "events_per_read_max": 1,
        "max_gap_ns": np.diff(times_ns).max() if len(times_ns) > 1 else None,
    }
