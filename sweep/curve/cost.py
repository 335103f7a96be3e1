"""What tokens cost. Prices are inputs: per accelerator-hour for machines, per million tokens for hosted APIs.

currency per million tokens = price per accelerator-hour · accelerators / (tok/s · 3600 / 10⁶)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.curve.setup import number
from sweep.errors import UsageError
from sweep.model import Curve

Floats = NDArray[np.float64]

MILLIONS_PER_HOUR = 3600 / 1e6  # of tokens, at 1 tok/s
_PRICE = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<currency>[A-Za-z]{3})?\s*(?P<unit>/\s*(?:M|Mtok|h|hour))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Price:
    """One of both: for an accelerator-hour, or for a million output tokens."""

    per_accelerator_hour: float | None = None
    per_million_output_tokens: float | None = None
    currency: str | None = None


def parse(text: str) -> tuple[str, Price]:
    """`A=2.5`, `A=2.5EUR` an accelerator-hour; `A=0.60/M` a million output tokens; above zero. Raises UsageError."""
    label, equals, rest = text.partition("=")
    match = _PRICE.fullmatch(rest.strip())
    if not equals or not label.strip() or match is None or not float(match["amount"]):
        raise UsageError(
            f"--price {text}: expected LABEL=AMOUNT, above zero",
            "A=2.5 is per accelerator-hour, A=0.60/M per million output tokens",
        )
    amount = float(match["amount"])
    currency = match["currency"].upper() if match["currency"] else None
    if (match["unit"] or "").lstrip("/ ").lower().startswith("m"):
        return label.strip(), Price(per_million_output_tokens=amount, currency=currency)
    return label.strip(), Price(per_accelerator_hour=amount, currency=currency)


def stated(curve: Curve) -> Price:
    """What the curve file declares; all None where it declares nothing."""
    currency = curve.price["currency"].value if "currency" in curve.price else None
    return Price(
        per_accelerator_hour=number(curve.price, "per_accelerator_hour"),
        per_million_output_tokens=number(curve.price, "per_million_output_tokens"),
        currency=currency if isinstance(currency, str) else None,
    )


def accelerators(curve: Curve) -> int | None:
    count = number(curve.hardware, "accelerator_count")
    return None if count is None or count < 1 or count != int(count) else int(count)


def ln_cost(price: Price, count: int | None, ln_tok_per_s: Floats, ln_share: Floats) -> Floats | None:
    """ln of the cost of a million (good) tokens; `ln_share`: of the tokens paid for that are good, where one pays by token.

    None without a price, or where a machine's accelerators were not counted. A throughput of none (−∞) costs +∞.
    """
    if price.per_million_output_tokens is not None:
        if price.per_million_output_tokens <= 0:
            return None
        unreachable = np.isneginf(ln_tok_per_s)
        return np.where(unreachable, np.inf, np.log(price.per_million_output_tokens) - np.where(unreachable, 0.0, ln_share))
    if not price.per_accelerator_hour or count is None:
        return None
    ln: Floats = np.log(price.per_accelerator_hour * count / MILLIONS_PER_HOUR) - ln_tok_per_s
    return ln


def needed_tok_per_s(price: Price, count: int | None, ceiling: float) -> float | None:
    """The throughput at which a million tokens cost just `ceiling`; 0 where the price by token is low enough, ∞ where it is not."""
    if price.per_million_output_tokens is not None:
        return 0.0 if price.per_million_output_tokens <= ceiling else np.inf
    if not price.per_accelerator_hour or count is None:
        return None
    return price.per_accelerator_hour * count / (ceiling * MILLIONS_PER_HOUR)
