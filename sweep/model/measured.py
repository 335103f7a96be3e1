"""What was measured: points, frontiers, and the curve that is written."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from sweep.model.asked import Bound, Load, Plan, Profile, Slo, StartKind
from sweep.model.happened import Health
from sweep.model.known import Endpoint
from sweep.model.noun import Noun

SCHEMA = "sweep.curve/1"


class Window(Noun, frozen=True, kw_only=True):
    """The measured interval [begin_ns, end_ns) and why it starts and ends there."""

    begin_ns: int
    end_ns: int
    begin_reason: str
    end_reason: str
    resolved: bool = True
    due: Literal["sent_ns", "planned_ns"] = "sent_ns"  # the column that places a request inside or outside
    began_at: str | None = None  # on the wall clock, for those who measured elsewhere meanwhile

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.begin_ns) / 1e9


class Estimate(Noun, frozen=True, kw_only=True):
    """A value and its 95 % interval; `high` None with `low` given: unbounded above, shown as ≥.

    `few`: too few samples for the value to decide anything.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_eff: float | None = None
    few: bool = False


UNKNOWN = Estimate(value=None)
Verdict3 = Literal["met", "missed", "undecided"]


class BoundResult(Noun, frozen=True, kw_only=True):
    bound: Bound
    share: Estimate  # of the cohort within the bound, failures counted as outside
    verdict: Verdict3


class SloResult(Noun, frozen=True, kw_only=True):
    slo: str
    good: int
    cohort: int
    attainment: Estimate
    goodput_req_per_s: Estimate
    goodput_tok_per_s: Estimate
    verdict: Verdict3
    bounds: tuple[BoundResult, ...]


class Finding(Noun, frozen=True, kw_only=True):
    """What was noticed; text, weight and advice are rendered from `findings/` by `code` and `data`."""

    code: str
    data: dict[str, Any] = msgspec.field(default_factory=dict)


class LengthStats(Noun, frozen=True, kw_only=True):
    n: int
    mean: float | None = None
    min: int | None = None
    p50: int | None = None
    max: int | None = None


class JointTable(Noun, frozen=True, kw_only=True):
    """(TTFT, TPOT, E2E) of the cohort's ok requests in µs, as `measure/joint.py` encodes them; failures are counted beside."""

    kind: Literal["columns", "cells"]
    n: int
    failed: int
    data: str
    relative_width: float = 0.0


class Point(Noun, frozen=True, kw_only=True):
    """A cell, measured. Keys of `metrics` carry their unit (`ttft_s`); inner keys: mean, min, p50, p75, p90, p95, p99, p999, max."""

    id: str
    cell: int
    load: Load
    repeat: int
    start: StartKind
    started_at: str
    window: Window | None
    cohort: int
    outcomes: dict[str, int]  # of the cohort; the sum is `cohort`
    outcomes_all: dict[str, int]  # of every request planned in the cell, warm-up and filler included
    statuses: dict[str, int]
    isl_asked: LengthStats
    isl: LengthStats
    osl_asked: LengthStats
    osl: LengthStats
    cached_share: float | None
    token_sources: dict[str, int]
    metrics: dict[str, dict[str, Estimate]]
    rates: dict[str, Estimate]  # req_per_s, output_tok_per_s, input_tok_per_s, total_tok_per_s
    concurrency: Estimate
    concurrency_peak: int | None
    histograms: dict[str, str]  # HdrHistogram V2, base64, µs, 3 digits, 1 µs .. 1 h
    joint: JointTable | None
    slos: tuple[SloResult, ...]
    health: Health | None
    findings: tuple[Finding, ...]
    energy_j: float | None = None  # drawn by all accelerators inside the window
    disqualified: bool = False
    busy_s: float | None = None  # how long the cell kept the endpoint busy, start and tail included
    mid_flight: int | None = None  # equilibrium start: how many slots began so, before the endpoint queued
    # MLPerf LoadGen's early-stopping estimates; null below its floor
    loadgen: dict[str, dict[str, float | None]] = msgspec.field(default_factory=dict)

    def rate(self, name: str) -> Estimate:
        """Of `rates`; without a value where the point has none of that name."""
        return self.rates.get(name, UNKNOWN)

    def statistic(self, metric: str, name: str) -> Estimate:
        """Of `metrics` (`ttft_s`, `p50`); without a value where the point has none of that name."""
        return self.metrics.get(metric, {}).get(name, UNKNOWN)


class Repeated(Noun, frozen=True, kw_only=True):
    """A load measured more than once: estimates over its points, their intervals from what differs between runs.

    Keys: output_tok_per_s, and a metric with its percentile (`ttft_s.p50`).
    """

    load: Load
    points: tuple[str, ...]
    estimates: dict[str, Estimate]


class Vertex(Noun, frozen=True, kw_only=True):
    x: float
    y: float
    points: tuple[str, ...]


class Frontier(Noun, frozen=True, kw_only=True):
    """One axis pair, both axes oriented so that more is better."""

    axis: str
    x: str
    y: str
    x_label: str
    y_label: str
    statistic: str  # the percentile the x axis is taken at, e.g. p90
    vertices: tuple[Vertex, ...]
    dominated: tuple[str, ...]
    surely_dominated: tuple[str, ...]
    dropped: tuple[str, ...]


class Fact(Noun, frozen=True, kw_only=True):
    """An answer to one of the four questions, and how it is known."""

    value: Any
    known: Literal["declared", "measured", "read", "missing"]


class Tool(Noun, frozen=True, kw_only=True):
    name: str
    version: str
    python: str


class Curve(Noun, frozen=True, kw_only=True):
    """Points, frontiers and setup of one profile on one endpoint: the content of NAME.curve.json."""

    schema: str
    name: str
    created_at: str
    run_id: str
    tool: Tool
    profile: Profile
    slos: tuple[Slo, ...]
    plan: Plan
    endpoint: Endpoint
    scenario: dict[str, Fact]
    constraint: dict[str, Fact]
    software: dict[str, Fact]
    hardware: dict[str, Fact]
    client: dict[str, Fact]
    price: dict[str, Fact]
    points: tuple[Point, ...]
    frontiers: tuple[Frontier, ...]
    findings: tuple[Finding, ...]
    complete: bool
    repeats: tuple[Repeated, ...] = ()
    calibration: dict[str, Any] | None = None
    previous_digests: tuple[str, ...] = ()
    digest: str | None = None
