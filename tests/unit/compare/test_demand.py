"""A buyer's demand over places and SLOs as one mean cost, with what is not served apart from it."""

from __future__ import annotations

import browser_pages
import pytest

from sweep.curve.compare.nouns import Comparison
from sweep.curve.compare.together import compare
from sweep.errors import SloError

GOOD, HARD = "ttft_p90<=600ms,tpot_p90<=60ms", "ttft_p50<=1us"


@pytest.fixture(scope="module")
def mixed() -> Comparison:
    sides = [browser_pages.side("a"), browser_pages.side("b", seed=1)]
    return compare(sides, weights={GOOD: 3, HARD: 2, 12.0: 1}, draws=200)


def test_slos_and_places_are_targets_with_their_weight(mixed: Comparison) -> None:
    assert [(each.target.name, each.target.weight) for each in mixed.answers] == [(GOOD, 3), (HARD, 2), ("12", 1)]
    assert all(each.target.demanded for each in mixed.answers)


def test_one_mean_cost_over_what_is_served(mixed: Comparison) -> None:
    for place, demand in enumerate(mixed.demand):
        costs = [each.served[place].cost_per_million for each in mixed.answers]
        assert costs[1] is None  # the hard SLO is met by nobody
        assert demand.unreachable_share == pytest.approx(2 / 6)
        assert demand.undecided_share == 0
        assert demand.cost_per_million is not None
        wanted = [cost.value for cost in (costs[0], costs[2]) if cost is not None and cost.value is not None]
        assert demand.cost_per_million.value == pytest.approx(0.75 * wanted[0] + 0.25 * wanted[1])
        low, value, high = demand.cost_per_million.low, demand.cost_per_million.value, demand.cost_per_million.high
        assert low is not None
        assert high is not None
        assert low < value < high


def test_a_weight_joins_the_slo_that_was_asked_for_anyway() -> None:
    sides = [browser_pages.side("a"), browser_pages.side("b", seed=1)]
    compared = compare(sides, slos=browser_pages.SLO, weights={GOOD: 3}, draws=50)
    assert [(each.target.name, each.target.weight) for each in compared.answers] == [(GOOD, 3)]


def test_what_too_few_requests_leave_open_is_a_share_of_its_own() -> None:
    sides = [browser_pages.side(name, requests=(40, 40)) for name in ("few", "fewer")]
    compared = compare(sides, weights={"ttft_p99<=900ms": 1, HARD: 3}, draws=50)
    for place, demand in enumerate(compared.demand):
        assert [each.served[place].standing for each in compared.answers] == ["undecided", "unreachable"]
        assert demand.cost_per_million is None
        assert (demand.undecided_share, demand.unreachable_share) == (0.25, 0.75)


@pytest.mark.parametrize("text", ["nonsense", "ttft<=1s,mlperf-llama2-70b-server"])
def test_a_weight_is_of_one_slo(text: str) -> None:
    with pytest.raises(SloError):
        compare([browser_pages.side("a"), browser_pages.side("b", seed=1)], weights={text: 1})


def test_shares_that_fill_the_demand_leave_nothing_out_of_reach() -> None:
    """One third and two thirds are not quite one in binary; the difference is no share of a demand."""
    side = browser_pages.side("a")
    made = compare([side, side], weights={GOOD: 1, 12.0: 2}, draws=50).demand[0]
    assert made.unreachable_share == 0
