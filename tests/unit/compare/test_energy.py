"""What a token takes of energy: measured where the points hold it, declared elsewhere, and never guessed."""

from __future__ import annotations

import math
from typing import Any

import browser_pages
import msgspec
import pytest
from comparable import metered, side

from sweep.curve import power
from sweep.curve.compare.nouns import Comparison, Served
from sweep.curve.compare.together import compare
from sweep.errors import UsageError
from sweep.model import Curve
from sweep.report.compare import markdown, outlays

AT = (18.0, 40.0)


def served(curve: Curve, **questions: Any) -> Served:
    return compare([curve, side("other")], at=AT, **questions).answers[0].served[0]


@pytest.mark.parametrize(
    ("text", "found"), [("A=700", ("A", 700.0)), ("a-b=1.4kW", ("a-b", 1400.0)), ("B = 650 w", ("B", 650.0))]
)
def test_powers_as_people_write_them(text: str, found: tuple[str, float]) -> None:
    assert power.parse(text) == found


@pytest.mark.parametrize("text", ["700", "A=", "A=0", "A=-1", "A=1MW", "=700"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        power.parse(text)


def test_declared_power_is_of_one_accelerator_and_the_same_at_every_load() -> None:
    found = served(side("a", accelerators=8, power_w=700))
    assert found.energy is not None
    assert (found.energy.known, found.energy.power_w) == ("declared", 5600)
    joules = found.energy.per_token_j
    assert joules.value == pytest.approx(5600 / (found.tok_per_s.value or 0))
    assert joules.low == pytest.approx(5600 / (found.tok_per_s.high or 0))
    assert joules.high == pytest.approx(5600 / (found.tok_per_s.low or 0))
    assert found.energy.tok_per_s_per_mw == pytest.approx((found.tok_per_s.value or 0) / 5600 * 1e6)


def test_measured_power_outweighs_what_is_declared_and_lies_between_its_loads() -> None:
    found = served(metered(side("a", accelerators=8, power_w=700), lambda level: 1000 * level**0.5))
    assert found.energy is not None
    assert found.energy.known == "measured"
    low, high = (1000 * load**0.5 for load in (found.loads[0], found.loads[-1]))
    assert low < found.energy.power_w < high
    way = math.log((found.tok_per_s.value or 0) / (found.attained or 0)) / math.log(
        (found.ceiling or 0) / (found.attained or 0)
    )
    assert found.energy.power_w == pytest.approx(low * (high / low) ** way)


def test_at_a_measured_load_the_power_is_its_own() -> None:
    curve = metered(side("a"), lambda level: 100 * level)
    vertex = curve.frontiers[0].vertices[2]
    compared = compare([curve, side("b")], at=[vertex.x])
    energy = compared.answers[0].served[0].energy
    assert energy is not None
    (level,) = compared.answers[0].served[0].loads
    assert energy.power_w == pytest.approx(100 * level)


def test_the_buyer_s_own_power_outweighs_a_measurement() -> None:
    found = served(metered(side("a", accelerators=2), lambda _: 900.0), powers={"A": 1440.0})
    assert found.energy is not None
    assert (found.energy.known, found.energy.power_w) == ("declared", 2880.0)


def test_what_is_not_known_is_null() -> None:
    assert served(side("a", power_w=700)).energy is None  # nobody counted the accelerators
    assert served(side("a", accelerators=8)).energy is None
    half = metered(side("a"), lambda level: 900.0 if level < 8 else None)
    compared = compare([half, side("b")], at=AT)
    assert {each.served[0].energy is None for each in compared.answers} == {True, False}
    assert compare([side("a", accelerators=8, power_w=700), side("b")], at=[1e6]).answers[0].served[0].energy is None


def test_energy_has_a_verdict_where_both_know_it_in_the_same_way() -> None:
    frugal, thirsty = side("frugal", accelerators=8, power_w=500), side("thirsty", accelerators=8, power_w=1000)
    found = [one for one in compare([frugal, thirsty], at=AT).verdicts if one.of == "energy"]
    assert {one.call for one in found} == {"better"}
    assert [one.ratio.value for one in found] == pytest.approx([0.5, 0.5])
    mixed = compare([metered(frugal, lambda _: 4000.0), thirsty], at=AT)
    assert {one.of for one in mixed.verdicts} == {"throughput"}


def test_a_good_token_takes_what_is_burned_for_the_bad_ones_too() -> None:
    curve = browser_pages.side("a")
    curve = msgspec.structs.replace(
        curve, points=tuple(msgspec.structs.replace(each, energy_j=300.0 * 30) for each in curve.points)
    )
    found = browser_pages.put_together(curve, browser_pages.side("b", seed=1)).answers[0].served[0]
    assert found.energy is not None
    assert found.energy.per_token_j.value == pytest.approx(300 / (found.tok_per_s.value or 0))


def test_tables_say_how_power_is_known_and_leave_out_what_nobody_knows() -> None:
    curves = [metered(side("a"), lambda _: 5000.0), side("b", accelerators=8, power_w=700)]
    compared = compare(curves, at=AT)
    table = outlays.energies(compared)
    assert table is not None
    assert [row[-1] for row in table.rows] == ["measured", "declared"] * 2
    assert "J / tok" in table.head
    assert "## Energy at the targets" in markdown.render(compared, curves)
    nobody: Comparison = compare([side("a"), side("b")], at=AT)
    assert outlays.energies(nobody) is None
