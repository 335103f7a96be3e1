"""Request-level latencies of answered requests, in ns, by the name they have in a point (which adds the unit)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.records import Records

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def latencies_ns(ok: Records, due: str) -> dict[str, Floats]:
    """TTFT, TPOT, E2E and their kin, each without the requests that have none; rows in the order given.

    `due` is the column latency counts from: planned_ns of an open loop (else a slow endpoint delays the next question and
    hides its own slowness), sent_ns of a closed one. An open loop keeps the service times from `sent_ns` beside, and how late
    requests left.
    """
    found = {
        "ttft": _between(ok, due, "first_ns"),
        "ttft_answer": _between(ok, due, "first_answer_ns"),
        "tpot": tpot_ns(ok)[has_tpot(ok)],
        "e2e": _between(ok, due, "last_ns"),
        "normalised_e2e": _normalised_e2e(ok, due),
    }
    if due == "planned_ns":
        found |= {
            "ttft_service": _between(ok, "sent_ns", "first_ns"),
            "e2e_service": _between(ok, "sent_ns", "last_ns"),
            "lateness": _between(ok, "planned_ns", "sent_ns"),
        }
    return found


def has_tpot(records: Records) -> NDArray[np.bool_]:
    """Where there is a second token that came after the first; an answer in one piece has none."""
    return records.present("osl") & (records["osl"] > 1) & records.present("last_ns") & (records["chunks"] > 1)


def tpot_ns(records: Records) -> Floats:
    """(last − first)/(tokens − 1); NaN where an answer has no second token."""
    usable = has_tpot(records)
    tokens = np.where(usable, records["osl"] - 1, 1)
    found: Floats = np.where(usable, (records["last_ns"] - records["first_ns"]) / tokens, np.nan)
    return found


def _between(records: Records, start: str, end: str) -> Floats:
    both = records.present(start) & records.present(end)
    took: Floats = (records[end][both] - records[start][both]).astype(np.float64)
    return took


def _normalised_e2e(records: Records, due: str) -> Floats:
    usable = records.present("osl") & (records["osl"] > 0) & records.present("last_ns") & records.present(due)
    per_token: Floats = (records["last_ns"] - records[due])[usable] / records["osl"][usable]
    return per_token
