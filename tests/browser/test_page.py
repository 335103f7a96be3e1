"""The page in a real browser: the same numbers as Python, usable by hand, key and reader, and silent on the network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import browser_pages as pages
import pytest

from sweep.curve import artifact
from sweep.curve.pick import pick
from sweep.model import Bound, Curve, Slo
from sweep.report import quantity

EVIL = """</script><img src=x onerror="alert(1)"><script>alert(2)</script>'"><b>&lt;"""
SLOS = {
    "p90s": (Bound(metric="ttft", limit_s=0.6, quantile=0.9), Bound(metric="tpot", limit_s=0.06, quantile=0.9)),
    "every request": (Bound(metric="ttft", limit_s=0.8), Bound(metric="e2e", limit_s=1.5)),
    "mixed": (Bound(metric="ttft", limit_s=0.4, quantile=0.95), Bound(metric="tpot", limit_s=0.025)),
    "strict": (Bound(metric="e2e", limit_s=0.004, quantile=0.5),),
    "lax": (Bound(metric="tpot", limit_s=0.9, quantile=0.99),),
}


def same_as_python(found: dict[str, Any], curve: Curve, bounds: tuple[Bound, ...]) -> None:
    picked = pick(curve, Slo(name="asked", bounds=bounds))
    assert found["verdict"] == picked.verdict
    assert found["highest"] == (picked.highest and picked.highest.level)
    assert found["best"] == (picked.best and picked.best.level)
    assert found["boundary"] == (picked.boundary and pytest.approx(picked.boundary.level, rel=1e-9))
    for load, (level, verdict, *numbers) in zip(picked.loads, found["loads"], strict=True):
        assert (level, verdict) == (load.level, load.verdict)
        share = load.attainment
        wanted = [share.value, share.low, share.high, load.goodput_req_per_s.value, load.goodput_tok_per_s.value]
        assert numbers == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", SLOS)
def test_an_slo_typed_in_has_the_answer_of_pick(two: Path, visit: Callable[..., Any], name: str) -> None:
    page = visit(two).page
    pages.ask(page, SLOS[name])
    if name == "p90s":
        assert all(2 < found["boundary"] < 4 for found in pages.answers(page))
    for found, curve in zip(pages.answers(page), (pages.side("a"), pages.side("b", seed=1)), strict=True):
        same_as_python(found, curve, SLOS[name])


def test_a_slider_moved_has_the_answer_of_pick(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    pages.ask(page, SLOS["p90s"])
    before = page.locator("#limit-ttft").input_value()
    page.locator("#slider-ttft").focus()
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    limit_ms = float(page.locator("#limit-ttft").input_value())
    assert limit_ms < float(before)
    bounds = (Bound(metric="ttft", limit_s=limit_ms / 1e3, quantile=0.9), SLOS["p90s"][1])
    for found, curve in zip(pages.answers(page), (pages.side("a"), pages.side("b", seed=1)), strict=True):
        same_as_python(found, curve, bounds)


def test_a_preset_button_sets_the_bounds(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    pages.ask(page, SLOS["strict"])
    page.locator("[data-slo='0']").click()
    assert page.locator("#chart .ring").count() == sum(found["highest"] is not None for found in pages.answers(page))
    assert page.locator("#limit-ttft").input_value() == "600"
    assert not page.locator("#use-e2e").is_checked()


def test_hovering_says_what_was_measured_there(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    page.locator("#chart .point").nth(2).hover()
    text = page.locator("#details").inner_text()
    assert re.search(r"^A, load \d", text)
    assert re.search(r"TTFT p50 [\d.,]+ \([\d.,]+ to [\d.,]+\), p90", text)
    assert "6,000 requests" in text or "requests" in text
    page.mouse.move(5, 5)
    assert page.locator("#details").is_hidden()


def test_arrow_keys_walk_the_points_and_escape_leaves(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    page.locator("#chart .point[tabindex='0']").focus()
    first = page.locator("#details").inner_text()
    page.keyboard.press("ArrowLeft")
    second = page.locator("#details").inner_text()
    assert first != second
    page.keyboard.press("ArrowDown")
    assert page.locator("#details").inner_text().startswith("B, load")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("B, load")
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()


def test_a_curve_is_hidden_and_shown(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    both = page.locator("#chart .point").count()
    page.locator("#show-B").uncheck()
    assert page.locator("#chart .point").count() == both // 2
    assert page.locator("#chart text.name").count() == 0
    page.locator("#show-B").check()
    assert page.locator("#chart .point").count() == both


def test_every_axis_draws(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    options = [option.get_attribute("value") for option in page.locator("#axis option").all()]
    assert len(options) == 12
    titles = set()
    for option in options:
        page.locator("#axis").select_option(option)
        assert page.locator("#chart .line").count() == 2
        titles.add(tuple(page.locator("#chart text.title").all_text_contents()))
    assert len(titles) == 12


def test_the_data_shown_can_be_taken_away(two: Path, visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(two).page
    with page.expect_download() as saved:
        page.locator("[data-curve='A']").click()
    assert saved.value.suggested_filename == "a.curve.json"
    saved.value.save_as(tmp_path / "a.curve.json")
    assert artifact.load(tmp_path / "a.curve.json").digest == artifact.digest(pages.side("a"))
    with page.expect_download() as table:
        page.locator("#csv").click()
    table.value.save_as(tmp_path / "points.csv")
    lines = (tmp_path / "points.csv").read_text().splitlines()
    assert len(lines) == 1 + page.locator("#chart .point").count()
    with page.expect_download() as whole:
        page.locator("#get-comparison").click()
    whole.value.save_as(tmp_path / "comparison.json")
    assert json.loads((tmp_path / "comparison.json").read_text())["schema"] == "sweep.comparison/1"


def test_markup_in_foreign_text_stays_text(visit: Callable[..., Any], tmp_path: Path) -> None:
    for place, curves in enumerate(([pages.evil("evil", EVIL)], [pages.evil("evil", EVIL), pages.side("b", seed=1)])):
        folder = tmp_path / str(place)
        folder.mkdir()
        page = visit(pages.written(folder, *curves) if len(curves) == 1 else forced(folder, curves)).page
        assert page.evaluate("document.images.length") == 0
        assert page.evaluate("document.querySelectorAll('b').length") == 0
        assert "onerror=" in page.locator("body").inner_text()
        page.locator("#chart .point").first.hover()
        assert "alert(1)" in page.locator("#details").inner_text()
        page.wait_for_timeout(50)


def forced(folder: Path, curves: list[Curve]) -> Path:
    from sweep.report import page

    path = folder / "forced.html"
    page.save_comparison(pages.put_together(*curves, force=True), curves, path)
    return path


def test_every_control_has_a_name(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")].filter(
          (control) => !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length)).map((control) => control.id)"""
    )
    assert nameless == []
    assert page.locator("#chart").get_attribute("aria-label")
    assert all(label for label in (point.get_attribute("aria-label") for point in page.locator("#chart .point").all()))


def test_one_curve_is_the_same_page(visit: Callable[..., Any], tmp_path: Path) -> None:
    curve = pages.side("a")
    page = visit(pages.written(tmp_path, curve)).page
    pages.ask(page, SLOS["p90s"])
    same_as_python(pages.answers(page)[0], curve, SLOS["p90s"])
    assert page.locator("#show-A").count() == 0
    assert page.get_by_role("heading", name="Points").is_visible()


def test_a_number_is_written_as_where_nothing_is_drawn(browser: Any) -> None:
    numbers = [0.0, 0.00123, 0.0999949, 1.005, 9.996, 43.21, 99.96, 999.6, 1692.3, 5002.4, 123456.7, -12.34]
    script = resources.files("sweep.report").joinpath("assets/chart.js").read_text()
    page = browser.new_page()
    written = page.evaluate(f"(numbers) => {{ {script}\nreturn numbers.map((number) => significant(number)); }}", numbers)
    page.close()
    assert written == [quantity.significant(number) for number in numbers]
