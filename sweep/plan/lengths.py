"""Token lengths: what a `Length` promises, and what each request draws from it.

A log-normal's `mean` and `sd` are those of the curve before it is clipped to `min`..`max`; `expected` is after clipping.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sweep.model import Length, Profile
from sweep.plan import rows
from sweep.plan.hashing import uniform

ISL_SALT = 1
OSL_SALT = 2
ROW_SALT = 3
_SECOND = 1 << 32  # the stream of a draw's second uniform


def pairs(profile: Profile, seed: int, requests: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(ISL, OSL) of each request, in tokens: together a row of the profile's, or each drawn for itself where it has none."""
    if profile.rows is not None:
        table = rows.decode(profile.rows)
        drawn = table[(uniform(seed, requests, ROW_SALT) * len(table)).astype(np.int64)]
        return drawn[:, 0], drawn[:, 1]
    return draw(profile.isl, seed, requests, ISL_SALT), draw(profile.osl, seed, requests, OSL_SALT)


def means(profile: Profile) -> tuple[float, float]:
    """The means of what `pairs` draws."""
    if profile.rows is not None:
        isl, osl = rows.decode(profile.rows).mean(axis=0)
        return float(isl), float(osl)
    return expected(profile.isl), expected(profile.osl)


def vary(profile: Profile) -> bool:
    """Whether requests differ in length."""
    return profile.rows is not None or any(
        length.mean is None or length.sd is not None for length in (profile.isl, profile.osl)
    )


def most_tokens(profile: Profile) -> int:
    """The most tokens, prompt and answer, any request can have."""
    if profile.rows is not None:
        return int(rows.decode(profile.rows).sum(axis=1).max())
    return longest(profile.isl) + longest(profile.osl)


def longest_answer(profile: Profile) -> int:
    """The longest OSL any request can have."""
    return longest(profile.osl) if profile.rows is None else int(rows.decode(profile.rows)[:, 1].max())


def draw(length: Length, seed: int, requests: NDArray[np.int64], salt: int) -> NDArray[np.int64]:
    """One length a request, a function of (seed, request, salt) alone."""
    if length.sd is not None:
        mu, sigma = _log_moments(length)
        tokens = np.exp(mu + sigma * _normal(seed, requests, salt))
        return np.clip(np.rint(tokens), *_limits(length)).astype(np.int64)
    if length.range_ratio is not None:
        low, high = _limits(length)
        return (low + np.floor(uniform(seed, requests, salt) * (high - low + 1))).astype(np.int64)
    return np.full(requests.shape, nominal(length), np.int64)


def nominal(length: Length) -> int:
    """The number a profile is named after: the mean of a fixed or log-normal length, the top of a range."""
    tokens = length.mean if length.mean is not None else length.max
    assert tokens is not None, "a checked Length has a mean or a max"
    return tokens


def longest(length: Length) -> int:
    """The most tokens any request can have."""
    return _limits(length)[1]


def expected(length: Length) -> float:
    """The mean of what is drawn."""
    low, high = _limits(length)
    if length.sd is None:
        return (low + high) / 2
    mu, sigma = _log_moments(length)
    a, b = (math.log(low) - mu) / sigma, (math.log(high) - mu) / sigma
    inside = nominal(length) * (_phi(b - sigma) - _phi(a - sigma))
    return low * _phi(a) + inside + high * (1 - _phi(b))


def _limits(length: Length) -> tuple[int, int]:
    """Smallest and largest draw. U[r·L, L] begins at the first whole token not below r·L."""
    top = nominal(length) if length.max is None else length.max
    if length.range_ratio is not None:
        return max(1, math.ceil(length.range_ratio * top - 1e-9)), top
    return (top, top) if length.sd is None else (length.min or 1, top)


def _log_moments(length: Length) -> tuple[float, float]:
    assert length.sd is not None
    variance = math.log1p((length.sd / nominal(length)) ** 2)
    return math.log(nominal(length)) - variance / 2, math.sqrt(variance)


def _normal(seed: int, requests: NDArray[np.int64], salt: int) -> NDArray[np.float64]:
    """Box-Muller: two uniforms of the same counter make one normal."""
    radius = np.sqrt(-2 * np.log1p(-uniform(seed, requests, salt)))
    return np.asarray(radius * np.cos(2 * np.pi * uniform(seed, requests, salt + _SECOND)))


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
