"""Processes whose truth is known: a stationary M/M/1 queue, AR(1), and a queue that may be overloaded and whose pace wanders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import ndtri

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


def mm1(rho: float) -> Draw:
    """Sojourn times in a stationary M/M/1 queue with unit service; the first customer finds the stationary workload."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        gaps, service = rng.exponential(1 / rho, n), rng.exponential(1.0, n)
        start = rng.exponential(1 / (1 - rho)) if rng.random() < rho else 0.0
        steps = np.concatenate([[start], service[:-1] - gaps[1:]])
        walk = np.cumsum(steps)
        return walk - np.minimum(np.minimum.accumulate(walk), 0.0) + service

    return draw


def mm1_quantile(rho: float, q: float) -> float:
    return float(-np.log(1 - q) / (1 - rho))


def ar1(phi: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Floats:
        noise = rng.standard_normal(n)
        noise[0] /= np.sqrt(1 - phi**2)
        return np.asarray(lfilter([1.0], [1.0, -phi], noise), np.float64)

    return draw


def ar1_quantile(phi: float, q: float) -> float:
    return float(ndtri(q) / np.sqrt(1 - phi**2))


PROCESSES: dict[str, tuple[Draw, Callable[[float], float]]] = {
    "M/M/1 0.5": (mm1(0.5), lambda q: mm1_quantile(0.5, q)),
    "M/M/1 0.8": (mm1(0.8), lambda q: mm1_quantile(0.8, q)),
    "AR(1) 0.9": (ar1(0.9), lambda q: ar1_quantile(0.9, q)),
}


def queue(rng: np.random.Generator, rho: float, n: int, rate: float, slow: float = 0.0) -> tuple[Floats, Floats]:
    """(arrivals, ends) in seconds of n requests to one server that is empty at first; ρ may be above 1.

    Exponential service times, times a slow log-normal pace of sd `slow` that remembers a hundred requests.
    """
    due = np.cumsum(rng.exponential(1 / rate, n))
    pace = np.exp(slow * ar1(0.99)(rng, n) * np.sqrt(1 - 0.99**2) - slow**2 / 2)
    service = rng.exponential(rho / rate, n) * pace
    walk = np.cumsum(service - np.diff(due, prepend=0.0))
    return due, due + walk - np.minimum(np.minimum.accumulate(walk - service), 0.0)
