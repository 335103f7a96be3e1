from __future__ import annotations

import pytest

from sweep.errors import UsageError
from sweep.plan.grid import doubling, parse_grid


def test_levels_keep_their_order() -> None:
    assert parse_grid("8, 1,64") == (8.0, 1.0, 64.0)
    assert parse_grid("0.5,2", whole=False) == (0.5, 2.0)


@pytest.mark.parametrize(
    ("text", "whole", "says"),
    [
        ("", True, "a level is missing"),
        ("1,,2", True, "a level is missing"),
        ("1,two", True, "'two' is not a number"),
        ("0,1", True, "0 is not a load"),
        ("-4", True, "-4 is not a load"),
        ("nan", False, "nan is not a load"),
        ("inf", False, "inf is not a load"),
        ("1,2,1", True, "1 appears twice"),
        ("1.5", True, "1.5 is not a whole number"),
        ("1e6", True, "more than one client can hold"),
    ],
)
def test_an_impossible_grid(text: str, whole: bool, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_grid(text, whole)
    assert says in caught.value.message
    assert caught.value.hint


def test_doubling_stops_at_the_limit() -> None:
    assert doubling(1) == (1.0,)
    assert doubling(64) == (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    assert doubling(100)[-1] == 64.0
    with pytest.raises(UsageError):
        doubling(0)
