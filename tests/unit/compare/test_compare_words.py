"""A comparison reads like advice: the answer first, in words that fit what was found."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import browser_pages
import msgspec
import pytest
from comparable import side
from rich.console import Console

from sweep.curve.compare.together import compare
from sweep.model import Curve
from sweep.plan.slo import parse
from sweep.report.compare import advice, amounts, evidence, markdown, out, overlay, tables, text, words

AT = (15.0, 30.0)


def first_line(*curves: Curve, **questions: Any) -> str:
    return words.answer(compare(curves, **{"at": AT, **questions}))


def test_one_winner_everywhere() -> None:
    said = first_line(side("a", output=1.2), side("b"))
    assert re.fullmatch(r"A \(a\) is better at every target: it delivers 20 % more than B \(95 %: 1\d to 2\d %\)\.", said)
    assert first_line(side("a"), side("b", output=1.2)).startswith(
        "B (b) is better at every target: it delivers 20 % more than A"
    )


def test_what_is_counted_is_compared_by_accelerator() -> None:
    said = first_line(side("a", output=1.2, accelerators=8), side("b", accelerators=8), at=[20.0])
    assert said.startswith("A (a) is better at 20 tok/s/user: it delivers 20 % more than B per accelerator (95 %: ")


def test_twice_and_more_is_said_in_times() -> None:
    said = first_line(side("a", output=3.2), side("b"), at=[20.0])
    assert re.search(r"it delivers 3\.20 times as much as B \(95 %: 3\.\d\d to 3\.\d\d times\)", said)


def test_cost_decides_where_prices_are_known() -> None:
    fast, cheap = side("fast", output=1.2, accelerators=8, price=4.0), side("cheap", accelerators=8, price=2.0)
    assert first_line(fast, cheap).startswith("B (cheap) is cheaper at every target: a token costs 40 % less than at A (95 %: ")


def test_a_vector_costs_what_a_token_does_not() -> None:
    sides = [side(name, accelerators=8, price=price) for name, price in (("a", 4.0), ("b", 2.0))]
    made = [msgspec.structs.replace(one, endpoint=msgspec.structs.replace(one.endpoint, unit="vectors")) for one in sides]
    assert "a vector costs 50 % less than at A" in first_line(*made, at=[20.0])
    (table,) = tables.targets(compare(made, at=[20.0]))
    assert "cost / M vectors" in table.head
    assert "output vectors/s per accelerator" in table.head


def test_no_difference_is_as_much() -> None:
    assert amounts.than(amounts.Range(1.0, 1.00004)) == "as much as"
    assert amounts.alone(amounts.Range(1.0, 1.0)) == "as much"


def test_where_curves_cross_is_said_only_if_it_is_sure() -> None:
    (measured,) = compare([side("a"), side("b")]).gains
    crossed = msgspec.structs.replace(measured, crossings=(20.0, 30.0))
    sure = msgspec.structs.replace(crossed, sure_crossings=(20.0,))
    told = {each: evidence.gain(compare([side("a"), side("b")]), each).rpartition(";")[2] for each in (crossed, sure)}
    assert told[crossed] == " where they cross is not certain."
    assert told[sure] == " level at 20.0."
    compared = msgspec.structs.replace(compare([side("a"), side("b")]), gains=(measured, crossed, sure))
    assert [row[-1] for row in tables.gains(compared).rows] == ["never", "not certain", "20.0"]


def test_it_may_depend_on_the_target() -> None:
    """Twice the throughput, but every token takes longer."""
    said = first_line(side("bulk", output=2.0, latency=2.0), side("quick"), at=[6.0, 28.0])
    assert said.startswith("It depends on the target: A (bulk) is better at 6 tok/s/user: it delivers 2.00 times as much as B")
    assert "; B (quick) is better at 28 tok/s/user: it delivers 68 % more than A" in said


@pytest.mark.parametrize(
    ("priced", "verb"),
    [
        (None, "is better at every target: at 6 tok/s/user it delivers "),
        (2.0, "is cheaper at every target: at 6 tok/s/user a token costs "),
    ],
)
def test_a_margin_is_not_said_of_targets_the_rival_does_not_reach(priced: float | None, verb: str) -> None:
    pair = [side("quick", output=2.0, accelerators=8, price=priced), side("slow", latency=2.0, accelerators=8, price=priced)]
    said = first_line(*pair, at=[6.0, 55.0])
    assert said.startswith(f"A (quick) {verb}")
    assert said.endswith(", and B does not get to 55 tok/s/user.")


def test_a_side_that_delivers_nothing_has_no_interval_of_a_ratio() -> None:
    compared = compare([side("quick"), side("slow", latency=2.0)], at=[55.0])
    turned = compare([side("slow", latency=2.0), side("quick")], at=[55.0])
    for one in (compared, turned):
        ratio = one.verdicts[0].ratio
        assert (ratio.value, ratio.low, ratio.high) == (None, None, None)


def test_a_weighted_demand_has_its_cost_and_what_is_not_served() -> None:
    sides = [side("a", latency=2.0, accelerators=8, price=2.0), side("b", accelerators=8, price=2.0)]
    said = first_line(*sides, at=[], weights={20.0: 3, 55.0: 1})
    assert re.search(
        r" Over your demand a million tokens cost \S+ at A and \S+ at B\. For A 25\.0 % of it is out of reach\.$", said
    )
    assert "Over your demand" not in first_line(*sides, at=[20.0])


def test_one_side_alone_may_get_there() -> None:
    assert first_line(side("a", latency=2.0), side("b"), at=[55.0]) == "B (b) is better at 55 tok/s/user: A does not get there."


def test_equivalent_undecided_and_out_of_reach() -> None:
    assert (
        first_line(side("a", spread=0.002), side("b", spread=0.002))
        == "A and B are equivalent at every target: surely within 3 % of each other."
    )
    undecided = first_line(side("a", spread=0.05), side("b", latency=1.03, spread=0.05), at=[20.0])
    assert re.fullmatch(r"Undecided at 20 tok/s/user: A may deliver \S+ % less to \S+ % more than B\.", undecided)
    wide = first_line(side("a", spread=0.3), side("b", output=1.1, spread=0.3))
    assert re.fullmatch(r"Undecided at every target: A may deliver 0\.\d+ to \d\.\d+ times as much as B\.", wide)
    assert first_line(side("a"), side("b"), at=[1e6]) == "Neither A nor B reaches 1,000,000 tok/s/user at any load measured."


def test_an_slo_that_nobody_meets_or_that_too_few_requests_were_asked_about() -> None:
    few = [browser_pages.side(name, requests=(40, 40)) for name in "ab"]
    assert first_line(*few, at=[], slos=parse("ttft_p50<=1ms")) == "Neither A nor B meets p50 TTFT ≤ 1 ms at any load measured."
    said = first_line(*few, at=[], slos=parse("ttft_p99<=900ms"))
    assert said == "Undecided at p99 TTFT ≤ 900 ms: too few requests to say whether A and B meet it."
    assert any("Ask A and B for more requests" in line for line in advice.surer(compare(few, slos=parse("ttft_p99<=900ms"))))


def test_values_without_intervals_are_told_as_such() -> None:
    said = first_line(side("a", output=1.5, spread=None), side("b"))
    assert said == "Undecided at every target: A shows 50 % more than B, but with what uncertainty is not known."


def test_of_three_two_may_lead() -> None:
    said = first_line(side("a", spread=0.1), side("b", spread=0.1), side("c", output=0.3, spread=0.1), at=[20.0])
    assert said == "A and B beat C at 20 tok/s/user, undecided among themselves."


def test_of_three_the_closest_rival_counts() -> None:
    said = first_line(side("a", output=1.3), side("b", output=1.1), side("c"), at=[20.0])
    assert said.startswith("A (a) is better at 20 tok/s/user: it delivers 18 % more than B (95 %: ")


def test_the_unfair_is_said_first_when_forced() -> None:
    other = side("b")
    other = msgspec.structs.replace(other, profile=msgspec.structs.replace(other.profile, text="code"))
    compared = compare([side("a"), other], at=AT, force=True)
    assert advice.unfair(compared) == ["The prompts' kind of text differs (A prose, B code)."]
    assert words.answer(compared).startswith("Forced, though unfair: A and B")
    console = Console(file=StringIO(), width=80)
    text.show(console, compared, [side("a"), other])
    assert console.file.getvalue().startswith("UNFAIR")  # type: ignore[attr-defined]
    assert "## Unfair" in markdown.render(compared, [side("a"), other])


def test_terminal_and_markdown_begin_with_the_answer_and_hold_the_four_questions() -> None:
    curves = [side("a", output=1.2, accelerators=1, price=2.0), side("b", accelerators=1, price=2.0)]
    compared = compare(curves, at=AT, weights={15.0: 1}, cost_ceiling=1.0)
    console = Console(file=StringIO(), width=80)
    text.show(console, compared, curves)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.startswith(words.answer(compared)[:60])
    assert max(map(len, shown.splitlines())) <= 80
    written = markdown.render(compared, curves)
    assert written.splitlines()[2] == f"**{markdown.escaped(words.answer(compared))}**"
    for title in (
        "Evidence",
        "What would make it surer",
        "Output throughput at places on the axis",
        "Verdicts",
        "Cost",
        "Scenario",
        "Software",
        "Hardware",
    ):
        assert f"## {title}" in written


def test_foreign_text_is_no_markup_in_markdown_and_no_control_on_a_terminal() -> None:
    evil = "<b>x</b> | [y](http://z) `q` \x1b[31m\n# head"
    curves = [browser_pages.evil("evil", evil), side("b")]
    compared = compare(curves, at=[20.0], force=True)
    written = markdown.render(compared, curves)
    assert "<b>" not in written.replace("\\<b", "")
    assert "\n# head" not in written
    assert "\x1b" not in written
    rows = [line for line in written.splitlines() if line.startswith("| ")]
    heads = [line.replace("\\|", "").count("|") for line in rows]
    assert all(count >= 3 for count in heads)
    console = Console(file=StringIO(), width=80, color_system=None)
    text.show(console, compared, curves)
    assert "\x1b" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_json_is_the_comparison_itself() -> None:
    compared = compare([side("a"), side("b")], at=AT)
    read = msgspec.json.decode(out.json_text(compared))
    assert read["schema"] == "sweep.comparison/1"
    assert {verdict["call"] for verdict in read["verdicts"]} <= {"better", "worse", "equivalent", "inconclusive"}


# --- pictures ------------------------------------------------------------------------------------------------------


def test_the_overlay_names_every_line_and_is_the_same_every_time() -> None:
    curves = [side("first", output=1.3), side("second", latency=0.8)]
    compared = compare(curves, at=AT)
    svg = overlay.svg_text(compared, curves)
    assert svg == overlay.svg_text(compared, curves)
    for label in ("A first", "B second", "unreachable →", "tok/s/user", ">16<", ">32<"):
        assert label in svg
    assert svg.count("stroke-dasharray") >= len(curves)  # the end of each
    for light, _ in overlay.SIDES[:2]:
        assert light in svg
    drawn = overlay.figure(compared, curves)
    assert drawn.axes[0].get_xscale() == drawn.axes[0].get_yscale() == "log"


def test_sides_differ_in_mark_as_well_as_colour_and_no_two_look_alike() -> None:
    looks = [(overlay.MARKS[place % len(overlay.MARKS)], overlay.SIDES[place % len(overlay.SIDES)]) for place in range(26)]
    assert len(set(looks)) == 26
    assert len(set(overlay.MARKS)) == len(overlay.MARKS)
    assert len({colour for pair in overlay.SIDES for colour in pair}) == 2 * len(overlay.SIDES)


def test_curves_without_any_place_still_make_a_figure() -> None:
    blank = [msgspec.structs.replace(side(name), points=()) for name in "ab"]
    assert "no point has a place" in overlay.svg_text(compare(blank, at=[5.0], force=True), blank)


def test_both_pictures_are_written(tmp_path: Any) -> None:
    curves = [side("a"), side("b")]
    made = out.write(compare(curves, at=AT), curves, html=None, figure=tmp_path / "both.png")
    assert {path.name for path in made.values()} == {"both.svg", "both.png"}
    assert all(path.stat().st_size > 10_000 for path in made.values())


@pytest.mark.parametrize(("share", "said"), [(None, "–"), (0.0004, "< 0.001"), (0.0312, "0.031")])
def test_p_values_in_words(share: float | None, said: str) -> None:
    assert tables.p_value(share) == said


@pytest.mark.parametrize(
    ("low", "high", "than"),
    [
        (1.2, 1.2, "20 % more than"),
        (1.17, 1.24, "17 to 24 % more than"),
        (0.6, 0.75, "25 to 40 % less than"),
        (0.0037, 0.0038, "99.6 % less than"),
        (0.95, 1.08, "5.0 % less to 8.0 % more than"),
        (2.1, 3.05, "2.10 to 3.05 times as much as"),
        (0.4, 2.5, "0.400 to 2.50 times as much as"),
    ],
)
def test_amounts_in_words(low: float, high: float, than: str) -> None:
    assert amounts.than(amounts.Range(low, high)) == than


def test_an_interval_speaks_as_its_value_does() -> None:
    value = amounts.Range(1.2, 1.2)
    assert amounts.span(amounts.Range(1.17, 1.24), value) == "17 to 24 %"
    assert amounts.span(amounts.Range(0.98, 1.24), value) == "2.0 % less to 24 % more"
    assert amounts.span(amounts.Range(1.97, 2.03), amounts.Range(2.0, 2.0)) == "1.97 to 2.03 times"
