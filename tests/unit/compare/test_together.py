"""A pair of curves with a known answer for every verdict, and what stops a comparison."""

from __future__ import annotations

from typing import Any

import comparable
import msgspec
import numpy as np
import pytest
from comparable import dressed, repeated, side
from curve_builder import point

from sweep.curve.compare.nouns import Comparison, Verdict
from sweep.curve.compare.together import compare, unmet
from sweep.curve.cost import Price
from sweep.errors import TrustError, UsageError
from sweep.model import Curve, LengthStats
from sweep.plan.slo import parse

AT = (15.0, 30.0)


def verdicts(*curves: Curve, of: str = "throughput", **questions: Any) -> list[Verdict]:
    return [one for one in compare(curves, at=AT, **questions).verdicts if one.of == of]


def calls(*curves: Curve, **questions: Any) -> set[str]:
    return {one.call for one in verdicts(*curves, **questions)}


def test_twenty_percent_more_with_narrow_intervals_is_better() -> None:
    found = verdicts(side("a", output=1.2), side("b"))
    assert {one.call for one in found} == {"better"}
    for one in found:
        assert one.ratio.value == pytest.approx(1.2, rel=1e-9)
        assert one.ratio.low is not None
        assert one.ratio.high is not None
        assert 1.15 < one.ratio.low < 1.2 < one.ratio.high < 1.25


def test_exchanged_sides_exchange_the_verdict() -> None:
    assert calls(side("a"), side("b", output=1.2)) == {"worse"}


def test_the_same_endpoint_measured_well_is_equivalent() -> None:
    assert calls(side("a", spread=0.004), side("b", spread=0.004)) == {"equivalent"}


def test_one_percent_is_equivalent_even_where_it_is_sure() -> None:
    assert calls(side("a", output=1.01, spread=0.001), side("b", spread=0.001)) == {"equivalent"}


def test_wide_intervals_decide_nothing() -> None:
    assert calls(side("a", output=1.1, spread=0.2), side("b", spread=0.2)) == {"inconclusive"}


def test_values_without_intervals_decide_nothing_and_it_says_so() -> None:
    compared = compare([side("a", output=2.0, spread=None), side("b")], at=AT)
    assert {one.call for one in compared.verdicts} == {"inconclusive"}
    assert [one.ratio.value for one in compared.verdicts] == pytest.approx([2.0, 2.0])
    assert all(one.ratio.low is None and one.p_differs is None for one in compared.verdicts)
    assert compared.unknown_noise == ("A",)


def test_a_place_only_one_side_reaches_is_won_by_it() -> None:
    slow = side("slow", latency=2.0)
    fast = side("fast")
    reach = max(vertex.x for vertex in fast.frontiers[0].vertices)
    (verdict,) = compare([slow, fast], at=[0.9 * reach]).verdicts
    assert (verdict.call, verdict.ratio.value) == ("worse", None)
    compared = compare([slow, fast], at=[0.9 * reach])
    assert [served.standing for served in compared.answers[0].served] == ["unreachable", "interpolated"]


def test_what_no_side_reaches_has_no_verdict_and_is_unmet() -> None:
    compared = compare([side("a"), side("b")], at=[1e6])
    assert compared.verdicts == ()
    assert unmet(compared) == ["1e+06"]
    assert unmet(compare([side("a"), side("b")])) == []


def test_a_vertex_is_measured_and_left_of_all_is_flat() -> None:
    one = side("a")
    first, second = one.frontiers[0].vertices[:2]
    compared = compare([one, side("b")], at=[first.x / 2, second.x])
    flat, exact = (answer.served[0] for answer in compared.answers)
    assert (flat.tok_per_s.value, flat.attained, flat.ceiling) == (first.y, first.y, None)
    assert (exact.standing, exact.tok_per_s.value) == ("measured", pytest.approx(second.y))


def test_throughput_is_per_accelerator_once_all_are_counted() -> None:
    eight, four = side("a", output=1.9, accelerators=8), side("b", accelerators=4)
    compared = compare([eight, four], at=AT)
    assert compared.basis == "accelerator"
    assert [one.ratio.value for one in compared.verdicts] == pytest.approx([0.95, 0.95])
    assert compared.gains[0].ratio.value == pytest.approx(0.95)
    whole = compare([eight, side("b")], at=AT)
    assert (whole.basis, whole.verdicts[0].ratio.value) == ("system", pytest.approx(1.9))
    assert compare([eight, side("b")], at=AT, counts={"B": 4}).verdicts[0].ratio.value == pytest.approx(0.95)


def test_a_cheaper_machine_wins_on_cost_though_it_is_slower() -> None:
    fast = side("fast", output=1.2, accelerators=8, price=4.0)
    cheap = side("cheap", accelerators=8, price=2.0)
    assert calls(fast, cheap) == {"better"}
    found = verdicts(fast, cheap, of="cost")
    assert {one.call for one in found} == {"worse"}
    assert [one.ratio.value for one in found] == pytest.approx([4 / 2 / 1.2] * 2)


def test_cost_is_price_over_what_is_delivered() -> None:
    one = side("a", accelerators=8, price=2.5)
    served = compare([one, side("b")], at=AT).answers[0].served[0]
    assert served.tok_per_s.value is not None
    assert served.cost_per_million is not None
    assert served.cost_per_million.value == pytest.approx(2.5 * 8 / (served.tok_per_s.value * 3600 / 1e6))
    assert compare([one, side("b")], at=AT).answers[0].served[1].cost_per_million is None


def test_a_price_by_token_is_the_cost() -> None:
    hosted = {"A": Price(per_million_output_tokens=0.6)}
    compared = compare([side("a"), side("b", accelerators=1, price=1.0)], at=AT, prices=hosted)
    assert compared.answers[0].served[0].cost_per_million is not None
    assert compared.answers[0].served[0].cost_per_million.value == pytest.approx(0.6)


def test_prices_in_two_currencies_are_not_compared() -> None:
    prices = {"A": Price(per_accelerator_hour=2, currency="USD"), "B": Price(per_accelerator_hour=2, currency="EUR")}
    compared = compare([side("a", accelerators=1), side("b", accelerators=1)], at=AT, prices=prices)
    assert {one.of for one in compared.verdicts} == {"throughput"}


def test_demand_is_weighted_over_what_is_in_reach() -> None:
    one, other = side("a", accelerators=2, price=3.0), side("b", accelerators=2, price=3.0)
    compared = compare([one, other], weights={15.0: 3, 30.0: 1, 1e6: 4})
    costs = [answer.served[0].cost_per_million for answer in compared.answers]
    demand = compared.demand[0]
    assert demand.unreachable_share == pytest.approx(0.5)
    assert demand.cost_per_million is not None
    assert costs[0] is not None
    assert costs[1] is not None
    assert demand.cost_per_million.value == pytest.approx(0.75 * (costs[0].value or 0) + 0.25 * (costs[1].value or 0))


def test_a_cost_ceiling_buys_the_x_where_cost_reaches_it() -> None:
    one = side("a", accelerators=2, price=3.0)
    served = compare([one, side("b")], at=[22.0]).answers[0].served[0]
    assert served.cost_per_million is not None
    ceiling = served.cost_per_million.value or 0.0
    within = compare([one, side("b")], at=[22.0], cost_ceiling=ceiling).within
    assert within[0].x == pytest.approx(22.0, rel=1e-6)
    assert within[0].measured_x is not None
    assert within[0].measured_x <= 22.0
    assert within[1].x is None


def test_three_sides_are_compared_two_by_two() -> None:
    compared = compare([side("a", output=1.3), side("b", output=1.1), side("c")], at=[20.0])
    assert [(one.a, one.b, one.call) for one in compared.verdicts] == [
        ("A", "B", "better"),
        ("A", "C", "better"),
        ("B", "C", "better"),
    ]
    assert len(compared.gains) == 3


def test_the_same_questions_give_the_same_document() -> None:
    first, again = (compare([side("a", output=1.02), side("b")], at=AT) for _ in range(2))
    assert msgspec.json.encode(first) == msgspec.json.encode(again)
    assert msgspec.json.decode(msgspec.json.encode(first), type=Comparison) == first


def test_one_run_of_each_leaves_places_of_its_own_choice() -> None:
    compared = compare([side("a"), side("b")])
    assert [answer.target.name for answer in compared.answers] == ["20", "50"] or len(compared.answers) <= 3
    low, high = compared.gains[0].window or (0, 0)
    assert all(low <= (answer.target.x or 0) <= high for answer in compared.answers)


# --- repeats and pairs ---------------------------------------------------------------------------------------------


def test_a_night_that_moved_both_drops_out_of_a_paired_ratio() -> None:
    night = np.array([-0.15, 0.02, 0.13])
    paired = [
        repeated(name, seed, sd=0.001, night=night, output=output, pair="n1")
        for name, seed, output in (("a", 1, 1.05), ("b", 2, 1.0))
    ]
    apart = [
        repeated(name, seed, sd=0.001, night=night, output=output) for name, seed, output in (("a", 1, 1.05), ("b", 2, 1.0))
    ]
    assert compare(paired, at=AT).paired
    assert calls(*paired) == {"better"}
    assert calls(*apart) == {"inconclusive"}


# --- what stops a comparison ---------------------------------------------------------------------------------------


def changed(what: str) -> Curve:
    base = side("b")
    profile = base.profile
    match what:
        case "osl":
            return msgspec.structs.replace(
                base, profile=msgspec.structs.replace(profile, osl=msgspec.structs.replace(profile.osl, mean=512))
            )
        case "text":
            return msgspec.structs.replace(base, profile=msgspec.structs.replace(profile, text="code"))
        case "declared_cache_share":
            return msgspec.structs.replace(base, profile=msgspec.structs.replace(profile, prefix_share=0.5))
        case "load_kind":
            return msgspec.structs.replace(base, plan=msgspec.structs.replace(base.plan, kind="poisson"))
        case "start":
            return comparable.dressed("b", [msgspec.structs.replace(one, start="equilibrium") for one in base.points])
        case "token_accounting":
            return comparable.dressed("b", [msgspec.structs.replace(one, token_sources={"chunks": 100}) for one in base.points])
        case "realised_osl_mean":
            longer = LengthStats(n=100, mean=8700.0, min=8700, p50=8700, max=8700)
            return comparable.dressed("b", [msgspec.structs.replace(one, osl=longer) for one in base.points])
    raise KeyError(what)


@pytest.mark.parametrize(
    "what", ["osl", "text", "declared_cache_share", "load_kind", "start", "token_accounting", "realised_osl_mean"]
)
def test_an_unfair_comparison_is_refused_with_its_key_unless_forced(what: str) -> None:
    with pytest.raises(TrustError, match=what) as caught:
        compare([side("a"), changed(what)], at=AT)
    assert caught.value.exit_code == 4
    assert what in [one.key for one in compare([side("a"), changed(what)], at=AT, force=True).unfair]


def test_lengths_within_five_percent_are_fair() -> None:
    near = LengthStats(n=100, mean=8192 * 1.045, min=8000, p50=8560, max=9000)
    other = comparable.dressed("b", [msgspec.structs.replace(one, osl=near) for one in side("b").points])
    assert compare([side("a"), other], at=AT).unfair == ()


def test_what_a_reader_should_know_is_said_but_stops_nothing() -> None:
    far = side("b")
    client = {**far.client, "rtt_s": msgspec.structs.replace(far.client["rtt_s"], value=0.08)}
    tool = msgspec.structs.replace(far.tool, version="9.9")
    other = msgspec.structs.replace(far, client=client, tool=tool, complete=False)
    keys = {one.key for one in compare([side("a"), other], at=AT).differences}
    assert {"rtt_s", "tool_version", "complete", "hardware.accelerator_count", "client.place"} <= keys


def test_a_refusal_shows_no_control_character_of_a_file() -> None:
    evil = side("b")
    evil = msgspec.structs.replace(evil, profile=msgspec.structs.replace(evil.profile, text="\x1b[2J\nerror: x"))
    with pytest.raises(TrustError) as caught:
        compare([side("a"), evil], at=AT)
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message.splitlines()) == 1


def test_slos_of_the_same_name_are_kept_apart() -> None:
    (one,), (other,) = parse("ttft<=1s"), parse("ttft<=2s")
    other = msgspec.structs.replace(other, name=one.name)
    a = msgspec.structs.replace(side("a"), slos=(one,))
    b = msgspec.structs.replace(side("b"), slos=(other,))
    assert [answer.target.name for answer in compare([a, b]).answers][:2] == ["ttft<=1s", "ttft<=1s (2)"]


@pytest.mark.parametrize("curves", [1, 27])
def test_too_few_or_too_many_curves(curves: int) -> None:
    with pytest.raises(UsageError):
        compare([side("a")] * curves)


def test_a_price_for_nobody_and_an_unknown_axis() -> None:
    with pytest.raises(UsageError, match="C"):
        compare([side("a"), side("b")], prices={"C": Price(per_accelerator_hour=1.0)})
    with pytest.raises(UsageError, match="axis"):
        compare([side("a"), side("b")], axis="sideways")


def test_curves_of_one_vertex_or_none_are_valid() -> None:
    single, nothing = dressed("one", [point(1, spread=0.01)]), dressed("none", [point(1, disqualified=True)])
    compared = compare([single, side("b")], at=[10.0])
    assert compared.gains[0].window is None
    assert compared.answers[0].served[0].tok_per_s.value == 100.0
    empty = compare([nothing, side("b")], at=[10.0])
    assert empty.answers[0].served[0].standing == "unreachable"
