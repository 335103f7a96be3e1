"""The page in a real browser: the same numbers as Python, usable by hand, key and reader, and silent on the network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser_pages as pages
import pytest

from sweep.curve import artifact
from sweep.curve.pick import pick
from sweep.model import Bound, Curve, Slo

EVIL = """</script><img src=x onerror="alert(1)"><script>alert(2)</script>'"><b>&lt;"""
METRICS = ("ttft", "tpot", "e2e")
SLOS = {
    "p90s": (Bound(metric="ttft", limit_s=0.6, quantile=0.9), Bound(metric="tpot", limit_s=0.06, quantile=0.9)),
    "every request": (Bound(metric="ttft", limit_s=0.8), Bound(metric="e2e", limit_s=1.5)),
    "mixed": (Bound(metric="ttft", limit_s=0.4, quantile=0.95), Bound(metric="tpot", limit_s=0.025)),
    "strict": (Bound(metric="e2e", limit_s=0.004, quantile=0.5),),
    "lax": (Bound(metric="tpot", limit_s=0.9, quantile=0.99),),
}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.written(tmp_path_factory.mktemp("two"), pages.side("a"), pages.side("b", seed=1))


def ask(page: Any, bounds: tuple[Bound, ...]) -> None:
    """Type the bounds into the page."""
    for metric in METRICS:
        page.locator(f"#use-{metric}").set_checked(any(bound.metric == metric for bound in bounds))
    for bound in bounds:
        page.locator(f"#share-{bound.metric}").select_option("" if bound.quantile is None else f"{bound.quantile:g}")
        page.locator(f"#limit-{bound.metric}").fill(f"{bound.limit_s * 1e3:g}")


def answers(page: Any) -> list[dict[str, Any]]:
    return [json.loads(row.get_attribute("data-numbers")) for row in page.locator("#judged tr").all()]


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
    ask(page, SLOS[name])
    if name == "p90s":
        assert all(2 < found["boundary"] < 4 for found in answers(page))
    for found, curve in zip(answers(page), (pages.side("a"), pages.side("b", seed=1)), strict=True):
        same_as_python(found, curve, SLOS[name])


def test_a_slider_moved_has_the_answer_of_pick(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    ask(page, SLOS["p90s"])
    before = page.locator("#limit-ttft").input_value()
    page.locator("#slider-ttft").focus()
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    limit_ms = float(page.locator("#limit-ttft").input_value())
    assert limit_ms < float(before)
    bounds = (Bound(metric="ttft", limit_s=limit_ms / 1e3, quantile=0.9), SLOS["p90s"][1])
    for found, curve in zip(answers(page), (pages.side("a"), pages.side("b", seed=1)), strict=True):
        same_as_python(found, curve, bounds)


def test_a_preset_button_sets_the_bounds(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    ask(page, SLOS["strict"])
    page.locator("[data-slo='0']").click()
    assert page.locator("#chart .ring").count() == sum(found["highest"] is not None for found in answers(page))
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


def test_prices_reprice_every_table(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    cost = page.locator("[data-cost-of='A']").first
    before = euros(cost)
    page.locator("#price-A").fill("6")
    assert euros(cost) == pytest.approx(2 * before, rel=0.01)
    page.locator("#unit-A").select_option("token")
    page.locator("#price-A").fill("0.5")
    good = float(page.locator("[data-cost-of='A']").first.get_attribute("data-share"))
    assert euros(cost) == pytest.approx(0.5 / good, rel=0.01)  # all tokens are paid for, good or not
    page.locator("#price-A").fill("")
    assert cost.text_content() == "–"


def euros(cell: Any) -> float:
    amount, currency = cell.inner_text().replace(",", "").split()
    assert currency == "EUR"
    return float(amount)


@pytest.mark.parametrize(
    ("field", "typed", "why"),
    [
        ("price", "-3", "a number above zero"),
        ("price", "0", "a number above zero"),
        ("price", "1e", "a number above zero"),
        ("count", "-2", "a whole number above zero"),
        ("count", "0", "a whole number above zero"),
        ("count", "1.5", "a whole number above zero"),
    ],
)
def test_an_impossible_price_or_count_is_marked_and_nothing_comes_of_it(
    two: Path, visit: Callable[..., Any], field: str, typed: str, why: str
) -> None:
    page = visit(two).page
    asked = page.locator(f"#{field}-A")
    told = page.locator(f"#why-{field}-A")
    assert (asked.get_attribute("aria-invalid"), told.is_visible()) == ("false", False)
    before = page.locator("td[data-cost-of='A']").first.inner_text()
    asked.fill("")
    asked.press_sequentially(typed)
    assert (asked.get_attribute("aria-invalid"), told.inner_text()) == ("true", why)
    assert asked.get_attribute("aria-describedby") == told.get_attribute("id")
    assert {cell.text_content() for cell in page.locator("[data-cost-of='A']").all()} == {"–"}
    assert page.locator("#judged tr").first.locator("td").nth(7).inner_text() == "–"
    assert "–" not in page.locator("[data-cost-of='B']").first.inner_text()
    asked.fill("3" if field == "price" else "2")
    assert (asked.get_attribute("aria-invalid"), told.is_visible()) == ("false", False)
    assert page.locator("td[data-cost-of='A']").first.inner_text() == before


def test_an_impossible_power_is_not_what_was_measured(visit: Callable[..., Any], tmp_path: Path) -> None:
    curve = pages.metered(pages.side("a"), 1500.0)
    page = visit(pages.written(tmp_path, curve, pages.side("b", seed=1))).page
    page.locator("#power-A").fill("-700")
    assert page.locator("#power-A").get_attribute("aria-invalid") == "true"
    assert page.locator("td[data-joules-of='A']").first.inner_text() == "–"


def test_an_impossible_bound_makes_no_slo_easier(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    ask(page, SLOS["p90s"])
    page.locator("#limit-tpot").fill("-1")
    assert page.locator("#limit-tpot").get_attribute("aria-invalid") == "true"
    assert [found["verdict"] for found in answers(page)] == ["undecided", "undecided"]
    assert "a bound is no number above zero" in page.locator("#judged").inner_text()


def test_a_bound_begins_where_its_slider_stands(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    page.locator("#use-e2e").check()
    assert float(page.locator("#limit-e2e").input_value()) > 0


def test_power_makes_energies(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert not page.locator("#tables .joules").first.is_visible()
    page.locator("#power-A").fill("700")
    cell = page.locator("td[data-joules-of='A']").first
    assert cell.is_visible()
    tok_per_s = float(cell.get_attribute("data-tok"))
    assert float(cell.inner_text().split()[0]) == pytest.approx(700 * 2 / tok_per_s, rel=0.01)
    assert "declared" in cell.inner_text()
    own = page.locator("#judged tr").nth(0).locator(".joules")
    assert float(own.inner_text().split()[0]) > 0
    assert page.locator("#judged tr").nth(1).locator(".joules").inner_text() == "–"
    page.locator("#power-A").fill("")
    assert not cell.is_visible()


def test_what_was_metered_is_used_until_a_power_is_filled_in(visit: Callable[..., Any], tmp_path: Path) -> None:
    curve = pages.metered(pages.side("a"), 1500.0)
    page = visit(pages.written(tmp_path, curve, pages.side("b", seed=1))).page
    cell = page.locator("td[data-joules-of='A']").first
    before = float(cell.inner_text().split()[0])
    assert before == pytest.approx(1500 / float(cell.get_attribute("data-tok")), rel=0.01)
    assert "measured" in cell.inner_text()
    page.locator("#power-A").fill("1500")  # of each of two
    assert float(cell.inner_text().split()[0]) == pytest.approx(2 * before, rel=0.01)
    assert "declared" in cell.inner_text()


def test_every_load_is_named_where_there_is_room(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert sorted(page.locator("#chart text.load").all_text_contents()) == sorted(["1", "2", "4", "8"] * 2)
    boxes = [text.bounding_box() for text in page.locator("#chart text.load, #chart text.name, #chart text.end-label").all()]
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            aside = one["x"] + one["width"] <= other["x"] + 2 or other["x"] + other["width"] <= one["x"] + 2
            above = one["y"] + one["height"] <= other["y"] + 5 or other["y"] + other["height"] <= one["y"] + 5
            assert aside or above


def test_the_answer_comes_before_everything_else(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert page.locator("p.answer").bounding_box()["y"] < page.locator(".glance").bounding_box()["y"] < 500
    assert page.locator(".glance").bounding_box()["y"] < page.locator("#chart").bounding_box()["y"]


def test_throughput_is_of_systems_as_soon_as_one_count_is_unknown(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert "tok/s/accelerator" in page.locator("#chart text.title").all_text_contents()[1]
    page.locator("#count-B").fill("")
    assert "tok/s/accelerator" not in page.locator("#chart text.title").all_text_contents()[1]


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
    import msgspec
    from curve_builder import curve, measured, records

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


def test_every_control_has_a_name(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")].filter(
          (control) => !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length)).map((control) => control.id)"""
    )
    assert nameless == []
    assert page.locator("#chart").get_attribute("aria-label")
    assert all(label for label in (point.get_attribute("aria-label") for point in page.locator("#chart .point").all()))


def test_without_script_figure_and_tables_still_say_everything(two: Path, browser: Any) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(two.as_uri())
    assert page.locator("figure svg").first.is_visible()
    assert page.get_by_role("heading", name="Verdicts").is_visible()
    assert not page.locator("#slider-ttft").is_visible()
    page.close()


def test_one_curve_is_the_same_page(visit: Callable[..., Any], tmp_path: Path) -> None:
    curve = pages.side("a")
    page = visit(pages.written(tmp_path, curve)).page
    ask(page, SLOS["p90s"])
    same_as_python(answers(page)[0], curve, SLOS["p90s"])
    assert page.locator("#show-A").count() == 0
    assert page.get_by_role("heading", name="Points").is_visible()
