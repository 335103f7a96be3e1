"""Prices as people write them, and what they make of a throughput."""

from __future__ import annotations

import numpy as np
import pytest

from sweep.curve import cost
from sweep.curve.cost import Price
from sweep.errors import UsageError


@pytest.mark.parametrize(
    ("text", "label", "price"),
    [
        ("A=2.5", "A", Price(per_accelerator_hour=2.5)),
        ("A=2.5EUR", "A", Price(per_accelerator_hour=2.5, currency="EUR")),
        ("my-curve=2.5 usd/h", "my-curve", Price(per_accelerator_hour=2.5, currency="USD")),
        ("B=0.60/M", "B", Price(per_million_output_tokens=0.6)),
        ("B=0.60 USD/Mtok", "B", Price(per_million_output_tokens=0.6, currency="USD")),
    ],
)
def test_prices_are_read(text: str, label: str, price: Price) -> None:
    assert cost.parse(text) == (label, price)


@pytest.mark.parametrize("text", ["2.5", "A=", "=2", "A=two", "A=-1", "A=1/week", "A=nan", "A=0", "A=0.00/M"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        cost.parse(text)


def test_the_cost_of_a_million_tokens() -> None:
    """8 accelerators at 2.50 an hour that make 5,000 tok/s: 20 / (18 M tokens an hour)."""
    ln = cost.ln_cost(Price(per_accelerator_hour=2.5), 8, np.log([5000.0]), np.array(0.0))
    assert ln is not None
    assert np.exp(ln[0]) == pytest.approx(20 / 18)
    assert cost.needed_tok_per_s(Price(per_accelerator_hour=2.5), 8, 20 / 18) == pytest.approx(5000)


def test_nothing_delivered_costs_infinitely_much() -> None:
    for price in (Price(per_accelerator_hour=2.5), Price(per_million_output_tokens=1.0)):
        ln = cost.ln_cost(price, 8, np.array([-np.inf]), np.array(0.0))
        assert ln is not None
        assert ln[0] == np.inf


def test_without_a_price_or_a_count_there_is_no_cost() -> None:
    assert cost.ln_cost(Price(), 8, np.zeros(1), np.array(0.0)) is None
    assert cost.ln_cost(Price(per_accelerator_hour=1.0), None, np.zeros(1), np.array(0.0)) is None
    assert cost.needed_tok_per_s(Price(), 8, 1.0) is None
    assert cost.needed_tok_per_s(Price(per_million_output_tokens=2.0), None, 1.0) == np.inf
    assert cost.needed_tok_per_s(Price(per_million_output_tokens=0.5), None, 1.0) == 0.0
