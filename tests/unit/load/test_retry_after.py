from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sweep.load.retry_after import seconds

NOW = datetime(1994, 11, 6, 8, 49, 7, 600_000, tzinfo=UTC)
DATE = "Sun, 06 Nov 1994 08:49:00 GMT"


@pytest.mark.parametrize(
    ("said", "date", "wait_s"),
    [
        ("7", None, 7),
        ("0", None, 0),
        ("0120", DATE, 120),
        ("Sun, 06 Nov 1994 08:49:37 GMT", None, 30),  # 29.4 s, and a client that comes early is refused again
        ("Sun, 06 Nov 1994 08:49:37 GMT", DATE, 37),  # by the server's own clock
        ("Sun, 06 Nov 1994 08:49:37 GMT", "today", 30),
        ("Sunday, 06-Nov-94 08:49:37 GMT", DATE, 37),  # the obsolete forms of RFC 9110 5.6.7
        ("Sun Nov  6 08:49:37 1994", DATE, 37),
        ("Sun, 06 Nov 1994 08:00:00 GMT", DATE, 0),
    ],
)
def test_seconds_and_dates(said: str, date: str | None, wait_s: int) -> None:
    assert seconds(said, date, NOW) == wait_s
    assert seconds(said, date, NOW.astimezone(timezone(timedelta(hours=9)))) == wait_s


@pytest.mark.parametrize(
    "said", ["", "soon", "-5", "1.5", "٣", "9" * 40, "Sun, 06 Nov 99999999994 08:49:37 GMT", "Sun, 99 Nov 1994"]
)
def test_what_nobody_can_read_is_no_number(said: str) -> None:
    assert seconds(said, DATE, NOW) is None
