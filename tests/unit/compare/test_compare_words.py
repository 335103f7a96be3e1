"""A comparison reads like advice: the answer first, in words that fit what was found."""

from __future__ import annotations

from io import StringIO
from typing import Any

import browser_pages
import msgspec
import pytest
from comparable import repeated, side
from rich.console import Console

from sweep.curve.compare.together import compare
from sweep.model import Curve
from sweep.report.compare import markdown, out, overlay, tables, text, words

AT = (15.0, 30.0)


def first_line(*curves: Curve, **questions: Any) -> str:
    return words.answer(compare(curves, **{"at": AT, **questions}))


def test_one_winner_everywhere() -> None:
    assert first_line(side("a", output=1.2), side("b")) == "A (a) is better at every target, 1.20× the output."


def test_cost_decides_where_prices_are_known() -> None:
    fast, cheap = side("fast", output=1.2, accelerators=8, price=4.0), side("cheap", accelerators=8, price=2.0)
    assert first_line(fast, cheap) == "B (cheap) is better at every target, 0.600× the cost per token."


def test_it_may_depend_on_the_target() -> None:
    """Twice the throughput, but every token takes longer."""
    said = first_line(side("bulk", output=2.0, latency=2.0), side("quick"), at=[6.0, 28.0])
    assert said.startswith("It depends on the target: A (bulk) is better at 6 tok/s/user")
    assert "B (quick) is better at 28 tok/s/user" in said


def test_equivalent_undecided_and_out_of_reach() -> None:
    assert first_line(side("a", spread=0.002), side("b", spread=0.002)) == "Equivalent, within 3 %, at every target."
    assert first_line(side("a", spread=0.3), side("b", output=1.1, spread=0.3)).startswith("These measurements do not decide")
    assert first_line(side("a"), side("b"), at=[1e6]) == "No curve is shown to meet 1e+06 tok/s/user."


def test_of_three_two_may_lead() -> None:
    said = first_line(side("a", spread=0.1), side("b", spread=0.1), side("c", output=0.3, spread=0.1), at=[20.0])
    assert said == "A and B beat C, undecided among themselves, at 20 tok/s/user."


def test_of_three_the_closest_rival_counts() -> None:
    said = first_line(side("a", output=1.3), side("b", output=1.1), side("c"), at=[20.0])
    assert said == "A (a) is better at 20 tok/s/user, 1.18× the output of the next."


def test_what_would_make_it_surer_names_the_next_measurement() -> None:
    compared = compare([side("a", spread=0.1), side("b", output=1.1, spread=0.1)], at=[20.0])
    advice = "\n".join(words.surer(compared))
    assert "Measure A at a load between 8 and 16 (--grid 11)" in advice
    assert "--repeat 3" in advice
    assert "--accelerators A=8 --accelerators B=8" in advice
    assert "--price A=2.50" in advice
    assert "in alternation" in advice


def test_advice_already_followed_is_not_given() -> None:
    pair = [repeated(name, seed, pair="n", accelerators=1, price=1.0) for name, seed in (("a", 1), ("b", 2))]
    advice = "\n".join(words.surer(compare(pair, at=[20.0])))
    assert "--repeat" not in advice
    assert "alternation" not in advice
    assert "--price" not in advice


def test_the_unfair_is_said_first_when_forced() -> None:
    other = side("b")
    other = msgspec.structs.replace(other, profile=msgspec.structs.replace(other.profile, text="code"))
    compared = compare([side("a"), other], at=AT, force=True)
    assert words.caveats(compared)[0].startswith("UNFAIR: the prompts' kind of text differs (A prose, B code)")
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
        "At the targets",
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
    for label in ("A first", "B second", "A unreachable", "B unreachable", "tok/s/user"):
        assert label in svg
    for light, _ in overlay.SIDES[:2]:
        assert light in svg
    drawn = overlay.figure(compared, curves)
    assert drawn.axes[0].get_xscale() == drawn.axes[0].get_yscale() == "log"


def test_sides_differ_in_mark_as_well_as_colour() -> None:
    assert len(set(overlay.MARKS)) == len(overlay.MARKS) == len(overlay.SIDES)
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
