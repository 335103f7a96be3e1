"""What the reader of a page fills in: prices, counts, powers and bounds, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser_pages as pages
import pytest

from sweep.model import Bound

P90S = (Bound(metric="ttft", limit_s=0.6, quantile=0.9), Bound(metric="tpot", limit_s=0.06, quantile=0.9))


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
    pages.ask(page, P90S)
    page.locator("#limit-tpot").fill("-1")
    assert page.locator("#limit-tpot").get_attribute("aria-invalid") == "true"
    assert [found["verdict"] for found in pages.answers(page)] == ["undecided", "undecided"]
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


def test_throughput_is_of_systems_as_soon_as_one_count_is_unknown(two: Path, visit: Callable[..., Any]) -> None:
    page = visit(two).page
    assert "tok/s/accelerator" in page.locator("#chart text.title").all_text_contents()[1]
    page.locator("#count-B").fill("")
    assert "tok/s/accelerator" not in page.locator("#chart text.title").all_text_contents()[1]
