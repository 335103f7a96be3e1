"""An endpoint that stops answering in the middle of a sweep: whether it is gone, until when, and what it is by then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from sweep.errors import EndpointError, ModelError
from sweep.model import Endpoint, Finding, Outcome, Point
from sweep.run.settings import manner
from sweep.run.source import Source

if TYPE_CHECKING:
    from sweep.curve.journal import Header
    from sweep.records import Records

PAUSE_S = 1.0
LAST = 8
OURS = [Outcome.CUT.value, Outcome.UNSENT.value]
ANSWERS = [Outcome.OK.value, Outcome.WRONG_LENGTH.value, Outcome.RATE_LIMITED.value]
TOO_MANY = 429


def gone(point: Point, records: Records, source: Source, header: Header) -> bool:
    """Whether this point, which `records` made, failed because nothing answers there any more, not under its load.

    EndpointError where the endpoint serves another model by now.
    """
    from sweep.curve.refine import failing

    if not failing(point):
        return False
    return not source.reachable() or (_silent(records) and _answering(source, header) is None)


def returned(source: Source, header: Header, patience_s: float) -> list[Finding] | None:
    """What is another thing than when the sweep began, once the endpoint answers again; None when it does not in time."""
    from sweep.measure.preflight import changes

    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        now = _answering(source, header) if source.reachable() else None
        if now is not None:
            return list(changes(header.endpoint, now))
        time.sleep(PAUSE_S)
    return None


def require_same_model(before: Endpoint, now: Endpoint) -> None:
    """EndpointError where the model is no longer among those the endpoint lists: many answer whatever model is asked for."""
    was, listed = before.facts.get("models") or (), now.facts.get("models") or ()
    if listed and before.model in was and before.model not in listed:
        raise EndpointError(f"the endpoint no longer serves {before.model}, but {', '.join(listed)}")


def _silent(records: Records) -> bool:
    """Whether none of the last requests that were not cut was answered, be it that it is too many."""
    ended = records.where(np.flatnonzero(~np.isin(records["outcome"], OURS)))
    last = np.argsort(ended["end_ns"], kind="stable")[-LAST:]
    return not (np.isin(ended["outcome"], ANSWERS) | (ended["status"] == TOO_MANY))[last].any()


def _answering(source: Source, header: Header) -> Endpoint | None:
    """What answers a few short requests there now, None where nothing does. EndpointError where it is another model."""
    try:
        now = source.probe(*manner(header.plan.profile))
    except ModelError as error:
        raise EndpointError(error.message) from None
    except EndpointError:
        return None
    require_same_model(header.endpoint, now)
    return now
