"""What a running cell knows already, and how much longer it would need to know what it is asked to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from sweep.measure import quantile
from sweep.measure.chunks import counts_for_throughput
from sweep.measure.goodput import verdict, within
from sweep.measure.quantile import ALPHA
from sweep.measure.rates import BINS, NOTHING, output_by_bin
from sweep.model import Bound, Cell, Estimate, Gate, Outcome, Window
from sweep.records import Records

SETTLED = 0.5  # of a gate's width: so narrow an interval needs no second look
FEWEST_TOKENS = 32  # of an answer in flight before its pace says something
HOPELESS = 100.0  # times longer: as good as never

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Known:
    """How one thing asked stands. `longer`: how many times the window it takes, by what is known now; below 1 it is known."""

    what: str
    longer: float
    found: str

    @property
    def held(self) -> bool:
        return self.longer <= 1

    @property
    def settled(self) -> bool:
        return self.longer <= SETTLED**2


def standing(cell: Cell, done: Records, open: Records, rows: Records, window: Window) -> list[Known]:
    """Every gate and every percentile bound of the cell, from the requests due in the window.

    `rows` are the columns of `done` and `open` together; their chunks are read for throughput alone.
    """
    return list(_gates(cell, done, open, rows, window)) + list(_bounds(cell, rows, window))


def misses_every(cell: Cell, rows: Records, window: Window) -> bool:
    """Whether each SLO asked about, if any, is sure to be missed."""
    cohort = _ended(rows, window)
    return all(
        any(
            verdict(quantile.share(within(cohort, bound, window.due)), bound.quantile) == "missed"
            for bound in slo.bounds
            if bound.quantile
        )
        for slo in cell.limits.slos
    )


def of_interval(gate: Gate, found: Estimate) -> Known:
    """An interval shrinks with the square root of the time."""
    if found.value is None or found.low is None or found.high is None or not found.value > 0:
        return Known(gate.label, HOPELESS if found.n >= FEWEST_TOKENS else 2.0, "unbounded")
    width = (found.high - found.low) / 2 / found.value
    return Known(gate.label, min(HOPELESS, (width / gate.width) ** 2), f"±{width:.1%}, asked ±{gate.width:.0%}")


def of_share(slo: str, bound: Bound, kept: Estimate) -> Known:
    """A share tells met from missed once its distance from q is more than its half-width."""
    assert bound.quantile is not None
    name = f"{bound.metric.upper()} p{100 * bound.quantile:g} of {slo}"
    if kept.value is None or kept.low is None or kept.high is None:
        return Known(name, HOPELESS, "nothing")
    if verdict(kept, bound.quantile) != "undecided":
        return Known(name, 0.0, "decided")
    if kept.value == 1 and kept.n_eff:  # as many more as must all keep the bound
        return Known(name, max(1.1, log(ALPHA / 2) / log(bound.quantile) / kept.n_eff), "undecided")
    apart = abs(kept.value - bound.quantile)
    side = kept.high - kept.value if kept.value < bound.quantile else kept.value - kept.low
    return Known(name, min(HOPELESS, max(1.1, (side / apart) ** 2)) if apart else HOPELESS, "undecided")


def _gates(cell: Cell, done: Records, open: Records, rows: Records, window: Window) -> Iterator[Known]:
    if not cell.limits.gates:
        return
    due_ns = rows[window.due]
    cohort = np.flatnonzero((due_ns >= window.begin_ns) & (due_ns < window.end_ns) & rows.present("first_ns") & _sound(rows))
    cohort = cohort[np.argsort(due_ns[cohort], kind="stable")]
    series = {"ttft_s": (rows["first_ns"] - due_ns)[cohort].astype(np.float64), "tpot_s": _tpot_ns(rows, cohort)}
    for gate in cell.limits.gates:
        if gate.quantile is None:
            yield of_interval(gate, throughput(done, open, window))
        else:
            yield of_interval(gate, quantile.quantile(series[gate.metric], gate.quantile))


def _bounds(cell: Cell, rows: Records, window: Window) -> Iterator[Known]:
    if not cell.limits.slos:
        return
    cohort = _ended(rows, window)
    for slo in cell.limits.slos:
        for bound in slo.bounds:
            if bound.quantile is not None:
                yield of_share(slo.name, bound, quantile.share(within(cohort, bound, window.due)))


def _ended(rows: Records, window: Window) -> Records:
    """The requests due in the window that ended, in that order."""
    due_ns = rows[window.due]
    ended = (due_ns >= window.begin_ns) & (due_ns < window.end_ns) & (rows["outcome"] != None)  # noqa: E711
    return rows.where(np.flatnonzero(ended)[np.argsort(due_ns[ended], kind="stable")])


def _sound(rows: Records) -> NDArray[np.bool_]:
    outcome = rows["outcome"]
    sound: NDArray[np.bool_] = (outcome == Outcome.OK.value) | (outcome == None)  # noqa: E711
    return sound


def _tokens(rows: Records) -> Floats:
    """Tokens of every answer so far; of one in flight its chunks, scaled as in the answers whose count is known."""
    ended = (rows["outcome"] == Outcome.OK.value) & rows.present("osl") & (rows["chunks"] > 0)
    scale = float(rows["osl"][ended].sum()) / float(rows["chunks"][ended].sum()) if ended.any() else 1.0
    chunks = np.where(rows.present("chunks"), rows["chunks"], 0) * scale
    tokens: Floats = np.where((rows["outcome"] == Outcome.OK.value) & rows.present("osl"), rows["osl"], chunks)
    return tokens


def _tpot_ns(rows: Records, cohort: NDArray[np.intp]) -> Floats:
    """Of ended answers, and the pace so far of those well under way."""
    tokens = _tokens(rows)[cohort]
    took_ns = (rows["last_ns"] - rows["first_ns"])[cohort]
    enough = np.where(rows["outcome"][cohort] == Outcome.OK.value, 2, FEWEST_TOKENS)
    usable = rows.present("last_ns")[cohort] & (tokens >= enough)
    pace: Floats = took_ns[usable] / (tokens[usable] - 1)
    return pace


def throughput(done: Records, open: Records, window: Window) -> Estimate:
    parts = [output_by_bin(part.where(counts_for_throughput(part)), window, BINS) for part in (done, open) if len(part)]
    bins = [part for part in parts if part is not None]
    if not bins:
        return NOTHING
    tokens: Floats = np.sum(bins, axis=0)
    return quantile.rate(tokens, window.seconds / BINS, round(float(tokens.sum())))
