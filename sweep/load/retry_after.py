"""How long a refused client is asked to stay away: `Retry-After`, RFC 9110 10.2.3."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,9}")  # thirty years; more is no answer to when


def seconds(said: str, date: str | None, now: datetime) -> int | None:
    """Whole seconds, rounded up, never negative; None where nobody can tell.

    `said` is a number of seconds or an HTTP date. A date is counted from the response's own `date`, so that the two hosts'
    clocks need not agree; from `now` where it has none.
    """
    if _SECONDS.fullmatch(said):
        return int(said)
    until, since = _moment(said), _moment(date or "") or now
    return None if until is None else max(0, math.ceil((until - since).total_seconds()))


def _moment(text: str) -> datetime | None:
    """Any of the three forms of an HTTP date."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
