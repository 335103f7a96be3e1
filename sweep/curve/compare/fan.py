"""Many versions of one frontier at once: PCHIP in (ln x, ln y) for every row of a sample.

A row is a set of vertices that noise has moved. Those that are dominated after the move drop out, as in any frontier; through
the rest goes the monotone cubic of Fritsch & Butland (1984) with scipy's end slopes (its PchipInterpolator), so that a row
without noise has exactly the value of `interpolate.at`. Arrays are (rows, vertices), NaN behind a row's last vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Fan:
    """`x` ascending and `y` descending logs of each row's vertices, `slopes` there, `count` how many there are (≥ 1)."""

    x: Floats
    y: Floats
    slopes: Floats
    count: Ints

    @property
    def first(self) -> Floats:
        return self.x[:, 0]

    @property
    def last(self) -> Floats:
        return self.x[np.arange(len(self.x)), self.count - 1]


def fan(ln_x: Floats, ln_y: Floats) -> Fan:
    """The frontiers through every row of vertices, in any order."""
    order = np.argsort(ln_x, axis=1, kind="stable")
    x, y = np.take_along_axis(ln_x, order, 1), np.take_along_axis(ln_y, order, 1)
    best_after = np.maximum.accumulate(y[:, ::-1], axis=1)[:, ::-1]
    kept = np.ones(x.shape, bool)
    kept[:, :-1] = (y[:, :-1] > best_after[:, 1:]) & (x[:, :-1] < x[:, 1:])
    count = kept.sum(axis=1)
    forward = np.argsort(~kept, axis=1, kind="stable")
    behind = np.arange(x.shape[1]) >= count[:, None]
    x = np.where(behind, np.nan, np.take_along_axis(x, forward, 1))
    y = np.where(behind, np.nan, np.take_along_axis(y, forward, 1))
    return Fan(x, y, _slopes(x, y, count), count)


def value(f: Fan, ln_x: Floats) -> Floats:
    """ln F of each row at its own ln x (or at one for all): flat left of the first vertex, −∞ right of the last."""
    at = np.broadcast_to(ln_x, f.count.shape)
    inside = np.clip(at, f.first, f.last)
    piece, h, u = _piece(f, inside)
    rows = np.arange(len(inside))
    y0, y1 = f.y[rows, piece], f.y[rows, np.minimum(piece + 1, f.count - 1)]
    d0, d1 = f.slopes[rows, piece], f.slopes[rows, np.minimum(piece + 1, f.count - 1)]
    cubic = (1 + 2 * u) * (1 - u) ** 2 * y0 + u * (1 - u) ** 2 * h * d0 + u**2 * (3 - 2 * u) * y1 + u**2 * (u - 1) * h * d1
    return np.where(at > f.last, -np.inf, cubic)


def along(one: Fan, ln_x: Floats) -> Floats:
    """ln F of a single row at many places; flat beyond both of its ends."""
    at = np.atleast_1d(ln_x)
    x, y, slopes = (np.repeat(part, len(at), axis=0) for part in (one.x, one.y, one.slopes))
    many = Fan(x, y, slopes, np.repeat(one.count, len(at)))
    return value(many, np.clip(at, one.first[0], one.last[0]))


def integral(f: Fan, low: Floats, high: Floats) -> Floats:
    """∫ ln F d ln x of each row; low and high lie between its first and last vertex."""
    return _antiderivative(f, high) - _antiderivative(f, low)


def _antiderivative(f: Fan, at: Floats) -> Floats:
    """From the first vertex."""
    rows = np.arange(len(f.count))
    h = np.diff(f.x, axis=1)
    whole = h * (f.y[:, :-1] + f.y[:, 1:]) / 2 + h**2 * (f.slopes[:, :-1] - f.slopes[:, 1:]) / 12
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(np.nan_to_num(whole), axis=1)], axis=1)
    piece, width, u = _piece(f, np.clip(at, f.first, f.last))
    after = np.minimum(piece + 1, f.count - 1)
    y0, y1, d0, d1 = f.y[rows, piece], f.y[rows, after], f.slopes[rows, piece], f.slopes[rows, after]
    part = y0 * (u - u**3 + u**4 / 2) + y1 * (u**3 - u**4 / 2)
    part += width * (d0 * (u**2 / 2 - 2 * u**3 / 3 + u**4 / 4) + d1 * (u**4 / 4 - u**3 / 3))
    return sums[rows, piece] + width * part


def _piece(f: Fan, at: Floats) -> tuple[Ints, Floats, Floats]:
    """Which piece, its width, and how far into it, 0..1. A row of one vertex has a piece of width 0."""
    rows = np.arange(len(at))
    piece = np.clip((f.x <= at[:, None]).sum(axis=1) - 1, 0, np.maximum(f.count - 2, 0))
    left, right = f.x[rows, piece], f.x[rows, np.minimum(piece + 1, f.count - 1)]
    width = right - left
    return piece, width, np.divide(at - left, width, out=np.zeros(len(at)), where=width > 0)


def _slopes(x: Floats, y: Floats, count: Ints) -> Floats:
    if x.shape[1] == 1:
        return np.zeros(x.shape)
    h, m = np.diff(x, axis=1), np.diff(y, axis=1)
    m = m / h
    slopes = np.zeros(x.shape)
    if x.shape[1] > 2:
        before, after = h[:, :-1], h[:, 1:]
        w1, w2 = 2 * after + before, after + 2 * before
        slopes[:, 1:-1] = (w1 + w2) / (w1 / m[:, :-1] + w2 / m[:, 1:])  # slopes of a frontier are all negative
    rows = np.arange(len(x))
    slopes[:, 0] = _end(h[:, 0], m[:, 0], h, m, np.ones(len(x), np.int64), count)
    last = np.maximum(count - 2, 0)
    slopes[rows, count - 1] = _end(h[rows, last], m[rows, last], h, m, last - 1, count)
    return np.where(count[:, None] == 1, 0.0, slopes)


def _end(h0: Floats, m0: Floats, h: Floats, m: Floats, neighbour: Ints, count: Ints) -> Floats:
    """scipy's three-point slope at an end, kept monotone; the secant where there are two vertices."""
    rows, inner = np.arange(len(h0)), np.clip(neighbour, 0, h.shape[1] - 1)
    h1, m1 = h[rows, inner], m[rows, inner]
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    return np.where(count <= 2, m0, np.where(np.sign(slope) != np.sign(m0), 0.0, slope))
