"""A cell of a simulated preset in virtual time: as the stop rule ends it, as a long run has it, and as the usual recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unittest.mock import patch

import msgspec
import numpy as np

from sweep import records
from sweep.measure import point, rates, stop, window
from sweep.model import Cell, Load, Outcome, Phase, Plan, Point, Profile, Slo, StartKind, Window
from sweep.plan import lengths, scenario
from sweep.plan.start import begun_mid_flight
from sweep.records import Records
from sweep.sim import running as underway
from sweep.sim import virtual
from sweep.sim.options import Options

PRESETS = ("synthetic-8b-bf16", "synthetic-70b-fp8", "synthetic-120b-moe")
FIGURES = ("throughput", "TPOT p50", "TTFT p50")
WARM, COUNTED = 2, 10  # requests a slot of the usual recipe
OFTEN, SELDOM = 64, 4  # reports come every so great a part of the time gone: of the real load's half second, of a long run
BATCHES = 20
FULL_AT = 0.9  # of the KV memory

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell as it was measured, and how long it kept the endpoint busy, in virtual seconds."""

    point: Point
    spent_s: float

    @property
    def figures(self) -> Figures:
        of = self.point
        values = (
            of.rates["output_tok_per_s"].value,
            of.metrics["tpot_s"]["p50"].value,
            of.metrics["ttft_s"]["p50"].value,
        )
        return {name: value for name, value in zip(FIGURES, values, strict=True) if value is not None}

    def holds(self, truth: Figures) -> list[bool]:
        """Whether each figure's interval holds the truth."""
        of = self.point
        intervals = (of.rates["output_tok_per_s"], of.metrics["tpot_s"]["p50"], of.metrics["ttft_s"]["p50"])
        pairs = zip(FIGURES, intervals, strict=True)
        return [(one.low or 0.0) <= truth[name] and (one.high is None or truth[name] <= one.high) for name, one in pairs]


@dataclass(frozen=True, slots=True)
class Long:
    """The figures of a long run, their relative standard errors, and TPOT p90."""

    figures: Figures
    error: Figures
    tpot_p90_s: float


def plan_of(profile: Profile, level: float, seed: int, start: StartKind = "equilibrium") -> Plan:
    return scenario.make_plan(profile, slos=(), seed=seed, grid=(level,), start=start)


def cell_of(plan: Plan, source: virtual.Source, level: float) -> Cell:
    return scenario.make_cell(plan, source.probe(), index=0, level=level, repeat=0, first_request=0)


def measured(cell: Cell, source: virtual.Source, slos: Sequence[Slo] = (), reports: int = OFTEN) -> Ran:
    """The cell as the stop rule ends it."""
    done, placed, reason = _driven(cell, source, reports)
    first = cell.start == "equilibrium" and cell.load.kind == "closed"
    mid_flight = begun_mid_flight(cell, done["request"], done["isl_asked"], done["osl_asked"]) if first else None
    found = point.measure(cell, done, placed, slos, None, source.probe(), "", reason, mid_flight)
    assert found.busy_s is not None
    return Ran(found, found.busy_s)


def lasting(cell: Cell, source: virtual.Source, seconds: float) -> Records:
    """The measured requests of the same cell with a window of so many seconds, and their neighbours."""
    return _driven(_limited(cell, seconds), source, SELDOM)[0]


def long_run(cell: Cell, source: virtual.Source, seconds: float) -> Long:
    """What a window of so many seconds says."""
    done, placed, _ = _driven(_limited(cell, seconds), source, SELDOM)
    assert placed is not None
    rate = rates.rates(done, placed)["output_tok_per_s"]
    cohort = point.in_order(done, (done["phase"] == Phase.MEASURED) & (done["outcome"] == Outcome.OK.value), placed.due)
    several = cohort.where(cohort["osl"] > 1)
    tpot_s = (several["last_ns"] - several["first_ns"]) / (several["osl"] - 1) / 1e9
    ttft_s = (cohort["first_ns"] - cohort[placed.due]) / 1e9
    assert rate.value is not None
    assert rate.high is not None
    throughput = rate.value, (rate.high - rate.value) / 2.26 / rate.value  # Student's t of nine
    known = dict(zip(FIGURES, (throughput, _median(tpot_s), _median(ttft_s)), strict=True))
    values, spread = ({name: each[place] for name, each in known.items()} for place in (0, 1))
    return Long(values, spread, float(np.quantile(tpot_s, 0.9, method="inverted_cdf")))


def recipe(cell: Cell, source: virtual.Source) -> tuple[Figures, float]:
    """The figures of 10·C requests after 2·C, from a cold start, and the endpoint time."""
    cold = msgspec.structs.replace(cell, start="cold")
    slots = round(cell.load.level)
    running = source.measure(cold)
    parts, ended = [], 0
    for batch in running:
        parts.append(batch.done)
        ended += len(batch.done)
        if ended >= (WARM + COUNTED) * slots:
            running.abort()
    done = records.concat(parts)
    done = done.where((done["outcome"] == Outcome.OK.value) & (done["request"] < (WARM + COUNTED) * slots))
    counted = done.where(done["request"] >= WARM * slots)
    took_s = float(counted["end_ns"].max() - counted["sent_ns"].min()) / 1e9
    tpot_s = (counted["last_ns"] - counted["first_ns"]) / np.maximum(counted["osl"] - 1, 1) / 1e9
    ttft_s = (counted["first_ns"] - counted["sent_ns"]) / 1e9
    values = float(counted["osl"].sum()) / took_s, float(np.median(tpot_s)), float(np.median(ttft_s))
    return dict(zip(FIGURES, values, strict=True)), float(done["end_ns"].max() - done["sent_ns"].min()) / 1e9


def errors(figures: Figures, truth: Figures) -> Figures:
    return {name: value / truth[name] - 1 for name, value in figures.items()}


def full(profile: Profile, load: Load, preset: str) -> bool:
    """Whether so many requests, half answered on average, fill the KV memory or the batch: then some wait or are preempted.

    Long answers are in flight for longer: a request found running holds what is weighted by its length.
    """
    options = Options(preset=preset)
    drawn = np.arange(20_000, dtype=np.int64)
    isl, osl = lengths.pairs(profile, 0, drawn)
    tokens = load.level * float(((isl + osl / 2) * osl).sum() / osl.sum())
    memory = underway.new_cluster(options).engines[0].max_tokens
    return tokens > FULL_AT * memory or load.level > options.settings.max_sequences


def _limited(cell: Cell, seconds: float) -> Cell:
    limits = msgspec.structs.replace(cell.limits, duration_s=seconds, gates=(), slos=(), cap_s=1e9)
    return msgspec.structs.replace(cell, limits=limits)


def _driven(cell: Cell, source: virtual.Source, reports: int) -> tuple[Records, Window | None, str]:
    """(records with their phases, window, why it ended)."""
    done, decision, last_ns = records.EMPTY, None, underway.BASE_NS
    parts: list[Records] = []
    with patch.object(underway, "REPORT_SHARE", reports):
        running = source.measure(cell)
        for batch in running:
            parts.append(batch.done)
            asked_ns, last_ns = last_ns, batch.at_ns
            if decision is None:
                done = records.concat([done, batch.done])
                asked = stop.decide(cell, done, batch.open, running.started_ns, batch.at_ns, asked_ns)
                if asked.kind != "go":
                    decision = asked
                    running.finish(asked.end_ns or batch.at_ns)
    assert decision is not None
    assert decision.end_ns is not None
    done = records.concat(parts)
    placed = window.place(cell, done, decision.end_ns)
    return window.with_phases(done, placed), placed, decision.reason


def _median(x: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """(median, its relative standard error by the medians of batches in order)."""
    middle = float(np.median(x))
    batches = [float(np.median(part)) for part in np.array_split(x, min(BATCHES, len(x)))]
    return middle, float(np.std(batches, ddof=1)) / np.sqrt(len(batches)) / middle
