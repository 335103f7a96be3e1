"""What a curve delivers under an SLO: good tokens of the best load that meets it, and where between two loads it ceases to."""

from __future__ import annotations

import browser_pages as pages
import msgspec
import pytest

from sweep.curve.compare import goals, plane
from sweep.curve.compare.delivery import Delivery
from sweep.curve.compare.together import compare
from sweep.curve.pick import pick
from sweep.model import Slo
from sweep.plan.slo import parse


def under(slo: Slo, name: str = "a", seed: int = 0) -> Delivery:
    curve = pages.side(name, seed)
    axis = plane.axis_of([curve], None)
    return goals.under(plane.plane("A", curve, axis, seed=0, draws=2000), slo)


def test_between_the_load_that_meets_and_the_one_that_misses() -> None:
    (slo,) = pages.SLO
    found, picked = under(slo).served, pick(pages.side("a"), slo)
    assert picked.boundary is not None
    assert picked.highest is not None
    assert (found.standing, found.load, found.measured_load, found.fails_at) == (
        "interpolated", picked.boundary.level, picked.highest.level, picked.boundary.fails,
    )  # fmt: skip
    assert found.attained == pytest.approx(picked.highest.goodput_tok_per_s.value)
    assert found.tok_per_s.value is not None
    assert found.ceiling is not None
    assert found.attained <= found.tok_per_s.value <= found.ceiling
    assert found.tok_per_s.low is not None
    assert found.tok_per_s.high is not None
    assert found.tok_per_s.low < found.tok_per_s.value < found.tok_per_s.high


def test_bounds_on_every_request_sort_good_from_bad_at_the_best_load() -> None:
    (slo,) = parse("ttft<=300ms,e2e<=2s")
    found, picked = under(slo).served, pick(pages.side("a"), slo)
    best = max(load.goodput_tok_per_s.value or 0 for load in picked.loads)
    assert found.standing == "measured"
    assert best / 1.03 <= (found.attained or 0) <= best
    assert found.ceiling is None


def test_out_of_reach_and_undecided_are_not_the_same() -> None:
    (hopeless,) = parse("ttft_p50<=1ms")
    assert under(hopeless).served.standing == "unreachable"
    few = pages.side("few", requests=(30, 30, 30, 30), fail_every=0)
    axis = plane.axis_of([few], None)
    (tail,) = parse("ttft_p99<=1500ms")
    answer = goals.under(plane.plane("A", few, axis, seed=0, draws=200), tail)
    assert (answer.served.standing, answer.ln) == ("undecided", None)


def test_an_slo_only_one_side_meets_is_won_by_it() -> None:
    (slo,) = parse("ttft_p90<=420ms")
    slow = pages.side("slow", seed=3)
    late = msgspec.structs.replace(slow, points=slow.points[2:])
    compared = compare([pages.side("a"), late], slos=[slo], draws=400)
    assert [served.standing for served in compared.answers[0].served][1] == "unreachable"
    assert compared.verdicts[0].call == "better"


def test_cost_of_good_tokens_by_token_price_pays_for_the_bad_ones() -> None:
    from sweep.curve.cost import Price

    (slo,) = parse("ttft<=300ms")
    prices = {"A": Price(per_million_output_tokens=1.0), "B": Price(per_million_output_tokens=1.0)}
    served = compare([pages.side("a"), pages.side("b", 1)], slos=[slo], prices=prices, draws=200).answers[0].served[0]
    assert served.attainment is not None
    assert served.cost_per_million is not None
    assert served.cost_per_million.value == pytest.approx(1 / served.attainment)
