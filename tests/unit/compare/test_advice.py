"""What would make a comparison surer, and what to bear in mind of it."""

from __future__ import annotations

import browser_pages
import msgspec
from comparable import repeated, side

from sweep.curve.compare.together import compare
from sweep.curve.cost import Price
from sweep.report.compare import advice, evidence, words


def test_where_no_point_can_be_trusted_more_requests_are_no_advice() -> None:
    gone = side("gone")
    gone = msgspec.structs.replace(
        gone, points=tuple(msgspec.structs.replace(point, disqualified=True) for point in gone.points)
    )
    compared = compare([side("a"), gone], slos=browser_pages.SLO)
    assert words.answer(compared).endswith(": no point of B can be trusted.")
    assert "B cannot be decided: no point can be trusted." in evidence.evidence(compared)[0]
    assert advice.surer(compared)[0].startswith("Measure B again: no point can be trusted")
    assert not any("Ask B" in line or "Ask A and B" in line for line in advice.surer(compared))


def test_an_open_loop_is_asked_for_rates() -> None:
    """Arrivals a second are no grid of concurrencies, and there is always one between two."""
    compared = compare([side("a"), side("b")], at=[20.0])
    opened = tuple(msgspec.structs.replace(one, open_loop=True) for one in compared.sides)
    closed, open_ = (" ".join(advice.surer(one)) for one in (compared, msgspec.structs.replace(compared, sides=opened)))
    assert "--grid" in closed
    assert "--rate" not in closed
    assert "--rate" in open_
    assert "--grid" not in open_


def test_one_file_given_twice_is_called_one_measurement() -> None:
    one = msgspec.structs.replace(side("a"), digest="sha256:0")
    assert advice.caveats(compare([one, one], at=[20.0]))[0].startswith("A and B are the same measurement")
    assert "same measurement" not in " ".join(advice.caveats(compare([side("a"), side("b")], at=[20.0])))


def test_a_currency_is_assumed_aloud_or_not_compared_aloud() -> None:
    sides = [side("a", accelerators=8), side("b", accelerators=8)]
    given = {"A": Price(per_accelerator_hour=2.5), "B": Price(per_accelerator_hour=3.0, currency="EUR")}
    assert "No currency is named for the price of A; it is taken to be EUR." in advice.caveats(compare(sides, prices=given))
    given["A"] = Price(per_accelerator_hour=2.5, currency="USD")
    apart = advice.caveats(compare(sides, prices=given))
    assert "Prices are in different currencies (A USD, B EUR): every cost is in its own, and none is compared." in apart


def test_what_would_make_it_surer_names_the_next_measurement() -> None:
    compared = compare([side("a", spread=0.1), side("b", output=1.1, spread=0.1)], at=[20.0])
    said = "\n".join(advice.surer(compared))
    assert (
        "Measure A and B at --grid 11 too: at 20 tok/s/user their measurements alone leave a factor of up to 1.6 open." in said
    )
    assert "--repeat 3" in said
    assert "--accelerators A=8 --accelerators B=8" in said
    assert "--price A=2.50" in said
    assert "in alternation" in said


def test_advice_already_followed_is_not_given() -> None:
    pair = [repeated(name, seed, pair="n", accelerators=1, price=1.0) for name, seed in (("a", 1), ("b", 2))]
    said = "\n".join(advice.surer(compare(pair, at=[20.0])))
    assert "--repeat" not in said
    assert "alternation" not in said
    assert "--price" not in said
