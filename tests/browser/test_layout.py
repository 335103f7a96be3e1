"""How a page stands: on every screen, on paper, without its script, with a crowd of curves and with next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser_pages as pages
import msgspec
import pytest
from curve_builder import curve, measured, records

from sweep.model import Curve


def test_every_load_is_named_where_there_is_room(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert sorted(page.locator("#chart text.load").all_text_contents()) == sorted(["1", "2", "4", "8"] * 2)
    assert overlapping(page) == []


def overlapping(page: Any) -> list[tuple[str, str]]:
    """Pairs of texts on the chart whose letters meet; a box is a little larger than its letters."""
    boxes = page.evaluate(
        """[...document.querySelectorAll("#chart text.load, #chart text.name, #chart text.end-label")]
             .map((text) => [text.textContent, text.getBoundingClientRect().toJSON()])"""
    )
    return [(a, b) for place, (a, one) in enumerate(boxes) for b, other in boxes[place + 1 :] if not _apart(one, other)]


def _apart(one: dict[str, float], other: dict[str, float]) -> bool:
    aside, above = 6, 8  # px of halo and leading that the boxes of two neighbours share
    return (
        one["x"] + one["width"] <= other["x"] + aside
        or other["x"] + other["width"] <= one["x"] + aside
        or one["y"] + one["height"] <= other["y"] + above
        or other["y"] + other["height"] <= one["y"] + above
    )


def test_the_answer_comes_before_everything_else(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert page.locator("p.answer").bounding_box()["y"] < page.locator(".glance").bounding_box()["y"] < 500
    assert page.locator(".glance").bounding_box()["y"] < page.locator("#chart").bounding_box()["y"]


REACTIONS = {
    "a slider's step": """const slider = document.getElementById("slider-ttft");
        slider.value = 150 + 60 * step;
        slider.dispatchEvent(new Event("input", { bubbles: true }));""",
    "other axes": """const axis = document.getElementById("axis");
        axis.selectedIndex = step % axis.options.length;
        axis.dispatchEvent(new Event("change"));""",
    "a curve hidden or shown": """document.getElementById("show-B").click();""",
    "a price": """const price = document.getElementById("price-A");
        price.value = step + 1;
        price.dispatchEvent(new Event("input"));""",
}


def test_five_curves_of_thirty_points_answer_at_once(visit: Callable[..., Any], tmp_path: Path) -> None:
    curves = [crowded(name, place) for place, name in enumerate("abcde")]
    page = visit(pages.written(tmp_path, *curves)).page
    assert page.locator("#chart .point").count() == 150
    for what, script in REACTIONS.items():
        typical_ms = page.evaluate(
            """(react) => {
              const times = [];
              const act = new Function("step", react);
              for (let step = 0; step < 12; step++) {
                const begin = performance.now();
                act(step);
                document.getElementById("chart").getBoundingClientRect();
                times.push(performance.now() - begin);
              }
              return times.sort((a, b) => a - b)[2]; // the machine may be busy
            }""",
            script,
        )
        print(f"\n5 curves of 30 points: {typical_ms:.0f} ms for {what}")
        assert typical_ms < 100, what


def crowded(name: str, seed: int) -> Curve:
    """Ten loads measured three times each."""
    points = []
    for place in range(10):
        for run in range(3):
            own = records(2**place, cell=len(points), repeat=run, n=200, seed=10_000 * seed + len(points))
            point = measured(own, 2.0**place, slos=pages.SLO)
            points.append(msgspec.structs.replace(point, disqualified=False))
    return curve(*points, name=name, run_id=name, slos=pages.SLO)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(two: Path, visit: Callable[..., Any], width: int, scheme: str) -> None:
    page = visit(two, width=width, color_scheme=scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    texts = page.locator("#chart text.name")
    for place in range(texts.count()):
        box = texts.nth(place).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_on_paper_there_are_figures_and_tables_but_no_controls(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    page.emulate_media(media="print")
    assert not page.locator("#axis").is_visible()
    assert page.locator("#chart").is_visible()
    assert page.get_by_role("heading", name="Verdicts").is_visible()


def test_without_script_figure_and_tables_still_say_everything(two: Path, browser: Any) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(two.as_uri())
    assert page.locator("figure svg").first.is_visible()
    assert page.get_by_role("heading", name="Verdicts").is_visible()
    assert not page.locator("#slider-ttft").is_visible()
    page.close()


def gone(name: str) -> Curve:
    made = pages.side(name)
    return msgspec.structs.replace(
        made, points=tuple(msgspec.structs.replace(point, disqualified=True) for point in made.points)
    )


def alone(name: str) -> Curve:
    made = pages.side(name)
    return msgspec.structs.replace(made, points=made.points[:1])


def without_slos(name: str) -> Curve:
    made = pages.side(name)
    return msgspec.structs.replace(
        made, slos=(), points=tuple(msgspec.structs.replace(point, slos=()) for point in made.points)
    )


CROWDS = {
    "one curve of one point": lambda: [alone("a")],
    "one curve without a point": lambda: [msgspec.structs.replace(pages.side("a"), points=())],
    "one curve of nothing to trust": lambda: [gone("a")],
    "one curve without SLOs": lambda: [without_slos("a")],
    "two curves of one point": lambda: [alone("a"), alone("b")],
    "two curves, one of nothing to trust": lambda: [pages.side("a"), gone("b")],
    "two curves of nothing to trust": lambda: [gone("a"), gone("b")],
    "two curves without SLOs": lambda: [without_slos("a"), without_slos("b")],
    "twelve curves": lambda: [pages.side(f"vendor-{place}-with-a-long-name", seed=place % 3) for place in range(12)],
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_no_crowd_and_no_void_breaks_it(visit: Callable[..., Any], tmp_path: Path, crowd: str) -> None:
    """On a telephone, a desk and paper: it says numbers or –, no text stands on another, no table of the comparison is cut off."""
    page = visit(pages.written(tmp_path, *CROWDS[crowd]())).page
    said = page.locator("body").inner_text()
    assert [word for word in ("NaN", "undefined", "Infinity", "null", "None", "[object") if word in said] == []
    for width, medium in ((1280, "screen"), (390, "screen"), (720, "print")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media=medium)
        page.wait_for_timeout(50)  # the chart follows its frame
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert cut_off(page) == []
        assert overlapping(page) == []


def cut_off(page: Any) -> list[str]:
    """Heads of the tables that a reader would have to move sideways; those of single points may be wide."""
    return page.evaluate(  # type: ignore[no-any-return]
        """[...document.querySelectorAll(".wide > .stacks")].filter((table) => table.scrollWidth > table.parentNode.clientWidth + 1)
             .map((table) => table.textContent.slice(0, 80))"""
    )
