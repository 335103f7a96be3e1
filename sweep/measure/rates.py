"""What was delivered inside the window, by event time, and how many requests were in flight."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sweep.measure import quantile
from sweep.measure.chunks import counts_for_throughput, delivered_tokens
from sweep.model import Estimate, Outcome, Window
from sweep.records import Records

BINS = 10
NOTHING = Estimate(value=None, few=True)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rates(records: Records, window: Window | None) -> dict[str, Estimate]:
    """req_per_s and input, output and total tok_per_s of every request, whatever its phase; null where nobody counted."""
    names = ("req_per_s", "output_tok_per_s", "input_tok_per_s", "total_tok_per_s")
    if window is None:
        return dict.fromkeys(names, NOTHING)
    counted = records.where(counts_for_throughput(records))
    ended = counted["end_ns"][counted["outcome"] == Outcome.OK]
    requests = binned(ended, np.ones(len(ended)), window, BINS)
    output = output_by_bin(counted, window, BINS)
    prompts = input_by_bin(counted, window, BINS)
    total = None if output is None or prompts is None else output + prompts
    return {name: _rate(bins, window) for name, bins in zip(names, (requests, output, prompts, total), strict=True)}


def _rate(bins: Floats | None, window: Window) -> Estimate:
    return NOTHING if bins is None else quantile.rate(bins, window.seconds / len(bins), round(float(bins.sum())))


def binned(at_ns: Ints, weight: NDArray[np.generic], window: Window, bins: int) -> Floats:
    """Sum of the weights of the events in each of the window's equal time bins."""
    inside = (at_ns >= window.begin_ns) & (at_ns < window.end_ns)
    place = (at_ns[inside] - window.begin_ns) * bins // (window.end_ns - window.begin_ns)
    return np.bincount(place, weights=weight[inside].astype(np.float64), minlength=bins).astype(np.float64)


def output_by_bin(counted: Records, window: Window, bins: int) -> Floats | None:
    """Output tokens by arrival of their chunk; an answer without chunks arrives at its last event."""
    chunkless = (np.diff(counted.chunk_start) == 0) & counted.present("osl") & counted.present("last_ns")
    if len(counted.chunk_ns) == 0 and not chunkless.any():
        return None
    streamed = binned(counted.chunk_ns, delivered_tokens(counted), window, bins)
    return streamed + binned(counted["last_ns"][chunkless], counted["osl"][chunkless], window, bins)


def input_by_bin(counted: Records, window: Window, bins: int) -> Floats | None:
    """Prompt tokens by first output token. A cut request never got its usage: what it asked, scaled as the others were."""
    begun = counted.present("first_ns")
    known = begun & counted.present("isl")
    if not known.any():
        return None
    tokens = counted["isl"].astype(np.float64)
    asked = counted["isl_asked"]
    both = known & counted.present("isl_asked") & (asked > 0)
    guessed = begun & ~known & counted.present("isl_asked")
    if both.any():
        tokens[guessed] = asked[guessed] * (float(counted["isl"][both].sum()) / float(asked[both].sum()))
        known = known | guessed
    return binned(counted["first_ns"][known], tokens[known], window, bins)


def concurrency(records: Records, window: Window | None) -> tuple[Estimate, int | None]:
    """Time-weighted mean and peak of the requests in flight (sent, not ended), exact to the event."""
    if window is None:
        return NOTHING, None
    sent = records.present("sent_ns")
    begin_ns = records["sent_ns"][sent]
    end_ns = np.where(records.present("end_ns")[sent], records["end_ns"][sent], window.end_ns)
    edges = np.linspace(window.begin_ns, window.end_ns, BINS + 1).astype(np.int64)
    busy_ns = np.array([_overlap_ns(begin_ns, end_ns, a, b) for a, b in pairwise(edges)])
    spread = quantile.rate(busy_ns / np.diff(edges), 1.0, int(sent.sum()))
    mean = float(busy_ns.sum()) / (window.end_ns - window.begin_ns)
    shift = mean - (spread.value or 0.0)
    low = None if spread.low is None else max(0.0, spread.low + shift)
    high = None if spread.high is None else spread.high + shift
    return Estimate(value=mean, low=low, high=high, n=spread.n, few=spread.few), _peak(begin_ns, end_ns, window)


def _overlap_ns(begin_ns: Ints, end_ns: Ints, a: np.int64, b: np.int64) -> float:
    return float((np.clip(end_ns, a, b) - np.clip(begin_ns, a, b)).sum())


def _peak(begin_ns: Ints, end_ns: Ints, window: Window) -> int:
    """The most in flight at one moment of the window; a request that ends as another begins has made room for it."""
    begun = np.sort(begin_ns)
    at = begun[(begun >= window.begin_ns) & (begun < window.end_ns)]
    at = np.concatenate([[window.begin_ns], at])
    level = np.searchsorted(begun, at, side="right") - np.searchsorted(np.sort(end_ns), at, side="right")
    return int(level.max())
