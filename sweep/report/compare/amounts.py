"""How much more or less, in the words one would say: a range of ratios as percent, or as times where it is far."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sweep.curve.compare.nouns import Ratio
from sweep.report import quantity

TIMES = 1.995  # from here on, `2.10 times as much` says it better than `110 % more`


@dataclass(frozen=True, slots=True)
class Range:
    """Ratios from `low` to `high`, positive."""

    low: float
    high: float

    @property
    def far(self) -> bool:
        """Whether percent would mislead: twice and more, or so wide that it is both less and more."""
        return self.low >= TIMES or (self.high >= TIMES and self.low < 1)

    @property
    def same(self) -> bool:
        """Whether not even a hundredth of a percent is between them."""
        return max(percent(self.low), percent(self.high)) < 0.005


def values(ratios: Iterable[Ratio]) -> Range | None:
    """From the least to the greatest; None where none has a value."""
    known = [each.value for each in ratios if each.value]
    return Range(min(known), max(known)) if known else None


def intervals(ratios: Iterable[Ratio]) -> Range | None:
    """What the intervals of those with a value span; None where one of them is open or unknown."""
    ends = [(each.low, each.high) for each in ratios if each.value]
    known = [(low, high) for low, high in ends if low and high]
    return Range(min(low for low, _ in known), max(high for _, high in known)) if known and len(known) == len(ends) else None


def farther(a: Ratio, b: Ratio) -> bool:
    """Whether a is farther from 1 than b; both have a value."""
    return abs(math.log(a.value or 1.0)) > abs(math.log(b.value or 1.0))


def than(each: Range) -> str:
    """`20 % more than`, `17 to 24 % less than`, `2.10 to 3.05 times as much as`, `5 % less to 8 % more than`, `as much as`."""
    return f"{alone(each)} {'as' if each.far or each.same else 'than'}"


def alone(each: Range) -> str:
    """`20 % more`, `2.10 times as much`, `as much`."""
    if each.same:
        return "as much"
    return f"{_times(each)} as much" if each.far else change(each)


def change(each: Range) -> str:
    """`20 % more`, `17 to 24 % less`, `5 % less to 8 % more`."""
    if each.low >= 1:
        return f"{_two(number(percent(each.low)), number(percent(each.high)))} % more"
    if each.high <= 1:
        return f"{_two(_less(each.high), _less(each.low))} % less"
    return f"{_less(each.low)} % less to {number(percent(each.high))} % more"


def span(each: Range, like: Range) -> str:
    """In the words of `like`, without saying its direction again: `17 to 24 %`."""
    if like.far or each.far:
        return _times(each)
    same = min(each.low, like.low) >= 1 or max(each.high, like.high) <= 1
    return change(each).removesuffix(" more").removesuffix(" less") if same else change(each)


def percent(ratio: float) -> float:
    return abs(ratio - 1) * 100


def number(value: float) -> str:
    """Two digits and no more: `0.4`, `3.4`, `24`, `120`."""
    return f"{value:.0f}" if value >= 9.95 or value == 0 else f"{value:.{1 if value >= 0.1 else 2}f}"


def _times(each: Range) -> str:
    return f"{_two(quantity.significant(each.low), quantity.significant(each.high))} times"


def _two(first: str, second: str) -> str:
    return first if first == second else f"{first} to {second}"


def _less(ratio: float) -> str:
    """Percent less, with a digit of what is left: never `100`, which would be nothing."""
    left = 100 * ratio
    return number(percent(ratio)) if left >= 1 else f"{100 - left:.{math.ceil(-math.log10(left))}f}"
