"""What a comparison must not depend on: the order of its sides, the units of throughput, the size of money."""

from __future__ import annotations

import comparable
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.curve.compare.nouns import Comparison, Ratio
from sweep.curve.compare.together import compare
from sweep.curve.cost import Price

AT = (15.0, 30.0)
DRAWS = 300
scale = st.floats(0.5, 2.0)
spread = st.floats(0.001, 0.1)
few = settings(max_examples=25)


def put(
    a: tuple[float, float],
    b: tuple[float, float],
    *,
    units: float = 1.0,
    money: float = 1.0,
    watts: float = 700.0,
    turned: bool = False,
) -> Comparison:
    """Sides as (output scale, spread); `units` multiplies every throughput, `money` every price; `watts` of every accelerator."""
    sides = [
        comparable.side(name, output=units * output, spread=width, accelerators=count)
        for name, (output, width), count in (("a", a, 4), ("b", b, 8))
    ]
    prices = {"a": Price(per_accelerator_hour=2.0 * money), "b": Price(per_accelerator_hour=3.0 * money)}
    powers = {"a": watts, "b": 1.5 * watts}
    return compare(sides[::-1] if turned else sides, at=AT, prices=prices, powers=powers, draws=DRAWS)


def near(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else a == pytest.approx(b, rel=1e-7)  # a file keeps nine digits


def inverted(each: Ratio) -> Ratio:
    value, low, high, least, most = (
        1 / end if end else None for end in (each.value, each.high, each.low, each.most, each.least)
    )
    return Ratio(value=value, low=low, high=high, least=least, most=most)


def alike(one: Ratio, other: Ratio) -> bool:
    return all(near(getattr(one, end), getattr(other, end)) for end in ("value", "low", "high", "least", "most"))


TURNED = {"better": "worse", "worse": "better", "equivalent": "equivalent", "inconclusive": "inconclusive"}


@few
@given(scale, spread, scale, spread)
def test_exchanging_the_sides_inverts_every_ratio_and_turns_every_verdict(a: float, u: float, b: float, v: float) -> None:
    one, other = put((a, u), (b, v)), put((a, u), (b, v), turned=True)
    for first, second in zip(one.verdicts, other.verdicts, strict=True):
        assert alike(first.ratio, inverted(second.ratio))
        assert first.call == TURNED[second.call]
        assert near(first.p_differs, second.p_differs)
        assert near(first.p_equivalent, second.p_equivalent)
    assert alike(one.gains[0].ratio, inverted(other.gains[0].ratio))
    assert near(one.gains[0].share_won, other.gains[0].share_lost)


@few
@given(scale, spread, scale, st.floats(1e-3, 1e3))
def test_the_unit_of_throughput_does_not_matter(a: float, u: float, b: float, units: float) -> None:
    one, other = put((a, u), (b, u)), put((a, u), (b, u), units=units)
    assert all(alike(x.ratio, y.ratio) and x.call == y.call for x, y in zip(one.verdicts, other.verdicts, strict=True))
    assert alike(one.gains[0].ratio, other.gains[0].ratio)


@few
@given(scale, spread, scale, st.floats(1e-3, 1e3))
def test_the_size_of_money_does_not_matter(a: float, u: float, b: float, money: float) -> None:
    one, other = put((a, u), (b, u)), put((a, u), (b, u), money=money)
    assert all(alike(x.ratio, y.ratio) and x.call == y.call for x, y in zip(one.verdicts, other.verdicts, strict=True))
    for x, y in zip(one.answers, other.answers, strict=True):
        for served, dearer in zip(x.served, y.served, strict=True):
            assert served.cost_per_million is not None
            assert dearer.cost_per_million is not None
            assert near((served.cost_per_million.value or 0) * money, dearer.cost_per_million.value)


@few
@given(scale, spread, scale, st.floats(1.0, 1e5))
def test_the_size_of_all_powers_does_not_matter(a: float, u: float, b: float, watts: float) -> None:
    one, other = put((a, u), (b, u)), put((a, u), (b, u), watts=watts)
    assert {verdict.of for verdict in one.verdicts} == {"throughput", "cost", "energy"}
    assert all(alike(x.ratio, y.ratio) and x.call == y.call for x, y in zip(one.verdicts, other.verdicts, strict=True))
    for x, y in zip(one.answers, other.answers, strict=True):
        for served, more in zip(x.served, y.served, strict=True):
            assert served.energy is not None
            assert more.energy is not None
            assert near((served.energy.per_token_j.value or 0) * watts / 700, more.energy.per_token_j.value)


@few
@given(scale, spread, scale, spread)
def test_a_ratio_lies_in_its_interval_and_its_bracket(a: float, u: float, b: float, v: float) -> None:
    for verdict in put((a, u), (b, v)).verdicts:
        ratio = verdict.ratio
        assert ratio.value is not None
        assert ratio.low is None or ratio.low <= ratio.value
        assert ratio.high is None or ratio.value <= ratio.high
        assert ratio.least is None or ratio.least <= ratio.value * (1 + 1e-9)
        assert ratio.most is None or ratio.value <= ratio.most * (1 + 1e-9)
