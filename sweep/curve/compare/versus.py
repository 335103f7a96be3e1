"""One side against another: a ratio as a logarithm, with its draws and its bracket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.curve.compare import judge
from sweep.curve.compare.nouns import Ratio

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """All in ln a/b. `value` is ±∞ where one side delivers nothing; `draws` None where too little is known to draw."""

    value: float
    draws: Floats | None
    least: float | None
    most: float | None

    @property
    def p_differs(self) -> float:
        return 1.0 if self.draws is None else judge.p_differs(self.draws)

    def p_equivalent(self, delta: float) -> float:
        return 1.0 if self.draws is None else judge.p_equivalent(self.draws, delta)


def ratio_of(pair: Pair) -> Ratio:
    """As a ratio; an infinite end, which is no limit, is None, but a ratio that may be nothing at all ends at 0."""
    ends = None if pair.draws is None else judge.interval(pair.draws)
    value = _finite(pair.value)
    low, high = (None, None) if ends is None else (_end(ends[0]), _end(ends[1]))
    if value is None and high == 0:
        low = high = None  # one side delivers nothing: there is no ratio to be sure of
    if value is not None:
        low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
    return Ratio(value=value, low=low, high=high, least=_finite(pair.least), most=_finite(pair.most))


def _end(ln: float) -> float | None:
    return 0.0 if ln == -np.inf else _finite(ln)


def _finite(ln: float | None) -> float | None:
    return float(np.exp(ln)) if ln is not None and np.isfinite(ln) else None
