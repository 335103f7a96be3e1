"""A comparison as tables: what a column counts, in what money, and which columns a narrow window keeps."""

from __future__ import annotations

from io import StringIO

import browser_pages
import pytest
from comparable import side
from rich.console import Console

from sweep.curve.compare.together import compare
from sweep.curve.cost import Price
from sweep.report.compare import evidence, glance, outlays, tables, text


def test_goodput_is_not_in_a_column_with_throughput() -> None:
    curves = [browser_pages.side("a"), browser_pages.side("b", seed=1)]
    compared = compare(curves, slos=browser_pages.SLO, at=[12.0], axis="total/interactivity")
    under, places = tables.targets(compared)
    assert (under.title, under.head[2]) == ("Goodput under each SLO", "good tok/s per accelerator")
    assert (places.title, places.head[2]) == ("Total throughput at places on the axis", "total tok/s per accelerator")
    assert ("cost / M good tok" in under.head, "cost / M tok" in places.head) == (True, True)
    assert glance.head(compared) == "tok/s per accelerator, good ones under an SLO, total elsewhere"
    assert glance.head(compare(curves, slos=browser_pages.SLO)) == "good tok/s per accelerator"
    assert " good tok/s/accelerator (" in evidence.evidence(compared)[0]
    assert " total tok/s/accelerator (" in evidence.evidence(compared)[1]


def test_each_cost_is_in_its_own_currency_where_they_differ() -> None:
    curves = [side(name, accelerators=1, price=2.0) for name in "ab"]
    prices = {"A": Price(per_accelerator_hour=2.0, currency="EUR"), "B": Price(per_accelerator_hour=2.0, currency="USD")}
    (table,) = tables.targets(compare(curves, at=[20.0], prices=prices))
    costs = [row[table.head.index("cost / M tok")] for row in table.rows]
    assert [cost.split()[1] for cost in costs] == ["EUR", "USD"]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_verdict_is_the_last_to_go(width: int) -> None:
    outputs = {"a": 1.0, "b": 1.2, "c": 1.04}
    curves = [side(name, output=output, spread=0.05, accelerators=1, price=2.0) for name, output in outputs.items()]
    console = Console(file=StringIO(), width=width)
    text.show(console, compare(curves, at=(15.0, 30.0)), curves)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "B better" in shown
    assert "undecided" in shown
    assert max(map(len, shown.splitlines())) <= width


def test_under_a_ceiling_never_and_unknown_are_told_apart() -> None:
    curves = [side("dear", accelerators=1, price=2.0), side("unpriced", accelerators=1)]
    table = outlays.costs(compare(curves, cost_ceiling=1e-6))
    assert table is not None
    assert [row[1] for row in table.rows] == ["never", "–"]
