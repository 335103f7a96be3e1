"""How often the whole procedure is wrong, by simulation: what it claims at 5 % it may not miss by much."""

from __future__ import annotations

from comparable import repeated

from sweep.curve.compare.together import compare

TRIALS = 60
DRAWS = 600
AT = (18.0, 36.0)
LEVELS = (1, 4, 16)


def wrong(output: float, sd: float, claims: set[str]) -> float:
    """Share of trials in which any target gets one of these calls."""
    found = 0
    for trial in range(TRIALS):
        a = repeated(f"a{trial}", 2 * trial, output=output, sd=sd, levels=LEVELS)
        b = repeated(f"b{trial}", 2 * trial + 1, sd=sd, levels=LEVELS)
        found += any(verdict.call in claims for verdict in compare([a, b], at=AT, draws=DRAWS).verdicts)
    return found / TRIALS


def test_equal_endpoints_are_seldom_told_apart() -> None:
    """5 % is claimed over both targets together; P(more than 7 of 60 | 5 %) is 1 %."""
    assert wrong(1.0, 0.03, {"better", "worse"}) <= 7 / 60


def test_endpoints_three_percent_apart_are_seldom_called_equivalent() -> None:
    assert wrong(1.03, 0.01, {"equivalent"}) <= 7 / 60


def test_ten_percent_is_found_with_three_runs_of_one_percent_noise() -> None:
    assert wrong(1.1, 0.01, {"better"}) >= 0.9
