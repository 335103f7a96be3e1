"""The nouns that pass between rooms. Frozen, typed, units in names; null is `None`, never 0.

Seconds (`_s`) and rates are floats; event times (`_ns`) are CLOCK_MONOTONIC nanoseconds of the client's host.
Per-request values live as columns in `records.py`, not here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

SCHEMA = "sweep.curve/1"
SHORT_UNITS = {"tokens": "tok", "documents": "docs", "audio seconds": "audio s"}


class Noun(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every noun."""


# --- what is asked for -------------------------------------------------------------------------------------------


class Length(Noun, frozen=True, kw_only=True):
    """Token lengths: fixed (`mean`), U[range_ratio·max, max], or log-normal (`mean`, `sd`, clipped to `min`..`max`)."""

    mean: int | None = None
    sd: int | None = None
    min: int | None = None
    max: int | None = None
    range_ratio: float | None = None


class Images(Noun, frozen=True, kw_only=True):
    """Pictures that go with every prompt, in pixels."""

    width: int
    height: int
    count: int = 1


DialectName = str
StartKind = Literal["equilibrium", "cold"]


class Profile(Noun, frozen=True, kw_only=True):
    """What kind of requests a curve is about.

    `isl` is in tokens, pictures included. `osl` is in the dialect's unit of work: tokens, vectors, documents, audio seconds.
    """

    name: str
    title: str
    isl: Length
    osl: Length
    dialect: DialectName = "chat"
    text: str = "prose"
    images: Images | None = None
    start: StartKind = "equilibrium"  # of closed loops
    slos: tuple[str, ...] = ()
    prefix_share: float = 0.0
    duration_s: float | None = None
    max_concurrency: int | None = None


class Bound(Noun, frozen=True, kw_only=True):
    """`metric` at most `limit_s`, inclusive; `quantile` is the share of requests that must keep it, None: every request."""

    metric: Literal["ttft", "tpot", "e2e"]
    limit_s: float
    quantile: float | None = None


class Slo(Noun, frozen=True, kw_only=True):
    name: str
    bounds: tuple[Bound, ...]
    source: str | None = None


LoadKind = Literal["closed", "poisson", "constant", "gamma", "offline", "single", "multi", "trace"]


class Load(Noun, frozen=True, kw_only=True):
    """`level` is slots in flight for closed loops, requests/s for open ones."""

    kind: LoadKind
    level: float
    shape: float | None = None  # of gamma gaps: 1 is Poisson, below comes in bursts, above is more even

    @property
    def label(self) -> str:
        return f"c{self.level:g}" if self.kind == "closed" else f"{self.kind}{self.level:g}"


Effort = Literal["quick", "standard", "rigorous"]


class Gate(Noun, frozen=True, kw_only=True):
    """How well a cell is to know one figure: `width` is the half-width of its interval as a share of its value."""

    metric: Literal["output_tok_per_s", "ttft_s", "tpot_s"]
    quantile: float | None  # None: a rate
    width: float

    @property
    def label(self) -> str:
        if self.quantile is None:
            return "throughput"
        return f"{self.metric.removesuffix('_s').upper()} p{100 * self.quantile:g}"


class Limits(Noun, frozen=True, kw_only=True):
    """When a cell may end and when a request is given up.

    A cell whose window is long enough goes on until `gates` hold and the percentile bounds of `slos` are met or missed, unless
    that would take more than `stretch` times the shortest window, or the cell longer than `spend_s`, start and tail included.
    """

    duration_s: float | None = None
    requests: int | None = None
    gates: tuple[Gate, ...] = ()
    slos: tuple[Slo, ...] = ()
    stretch: float | None = None
    spend_s: float | None = None
    cap_s: float = 600.0
    idle_timeout_s: float = 60.0
    deadline_s: float = 600.0


class Cell(Noun, frozen=True, kw_only=True):
    """One profile at one load, one repeat: the unit of measurement. `index` is its place in the order of the run."""

    index: int
    profile: Profile
    load: Load
    limits: Limits
    start: StartKind
    seed: int
    repeat: int = 0
    first_request: int = 0

    @property
    def id(self) -> str:
        return f"{self.load.label}.{self.repeat}"


class Plan(Noun, frozen=True, kw_only=True):
    """The cells of one curve. With `grid` None the next level is found while measuring."""

    profile: Profile
    slos: tuple[Slo, ...]
    kind: LoadKind
    limits: Limits
    start: StartKind
    seed: int
    grid: tuple[float, ...] | None = None
    max_concurrency: int = 512
    repeats: int = 1
    idle_timeout_s: float | None = None  # as asked; None: derived from the workload
    refine: int = 0  # cells to spend, after the doubling, on SLO boundaries, wide gaps and confirmation
    effort: Effort = "standard"
    budget_s: float | None = None  # of endpoint time, for all cells; None: twice what the doubling took
    shape: float | None = None  # of gamma arrivals


class Expected(Noun, frozen=True, kw_only=True):
    """What a plan will probably take, at most; None while the endpoint's pace is unknown."""

    cells: int
    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    tail_seconds: float | None = None  # what knowing p99 at every load would take beyond that


# --- what preflight learned --------------------------------------------------------------------------------------


class Calibration(Noun, frozen=True, kw_only=True):
    """Prompt tokens ≈ template_tokens + tokens_per_word · words, from the server's own usage figures.

    `tokenizer`: from its tokenizer, which knows nothing of the chat template.
    """

    tokens_per_word: float
    template_tokens: float
    source: Literal["usage", "tokenizer", "assumed"]


class Endpoint(Noun, frozen=True, kw_only=True):
    """What preflight learned. `url` ends before the dialect's path and holds no credentials."""

    url: str
    model: str
    dialect: DialectName
    unit: str = "tokens"  # of work: what answers are counted in, wherever a name says tok
    calibration: Calibration
    fields: tuple[str, ...] = ()  # optional request fields this server accepts: ignore_eos, min_tokens, stream_options
    keep_alive: bool = True
    verified_tls: bool | None = None
    insecure: bool = False
    proxy: str | None = None
    rtt_s: float | None = None
    ttft_s: float | None = None
    tpot_s: float | None = None
    context_tokens: int | None = None
    server: str | None = None
    version: str | None = None
    osl_honoured: bool | None = None
    usage_reported: bool | None = None
    probes: int = 0
    loopback: bool = False
    simulated: str | None = None  # preset of the embedded endpoint
    facts: dict[str, Any] = {}

    @property
    def rate_unit(self) -> str:
        """Of throughput, for people: `tok/s`, `vectors/s`."""
        return f"{SHORT_UNITS.get(self.unit, self.unit)}/s"


# --- what is said on the wire ------------------------------------------------------------------------------------


class Ask(Noun, frozen=True, kw_only=True):
    """One request, before a dialect encodes it. `fields` are the optional fields the server is known to accept."""

    model: str
    prompt: str
    osl: int  # in the dialect's unit of work
    stream: bool = True
    fields: tuple[str, ...] = ()
    images: tuple[bytes, ...] = ()  # PNG
    audio: bytes | None = None  # WAV of `osl` seconds


class Usage(Noun, frozen=True, kw_only=True):
    """`completion_tokens` are in the dialect's unit of work."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class Event(Noun, frozen=True, kw_only=True):
    """What one server-sent event said. `token`: it carries at least one token by its own shape (text, reasoning, tool call, ids)."""

    token: bool = False
    answer: bool = False  # the token belongs to the answer, not to the reasoning
    token_ids: int | None = None  # how many token ids it lists
    usage: Usage | None = None
    finish: str | None = None
    error: str | None = None
    done: bool = False  # the dialect's end mark


class SimAsk(Noun, frozen=True, kw_only=True):
    """A request as the simulated endpoint reads it."""

    prompt: str
    osl: int
    media_tokens: int = 0  # what pictures beside the prompt weigh
    model: str | None = None
    stream: bool = True
    include_usage: bool = False
    continuous_usage: bool = False
    ignore_eos: bool = False
    return_token_ids: bool = False


# --- what happened -----------------------------------------------------------------------------------------------


class Outcome(StrEnum):
    """Every request ends in exactly one."""

    OK = "ok"
    HTTP_ERROR = "http_error"
    RATE_LIMITED = "rate_limited"
    CONNECT = "connect"
    TIMEOUT_IDLE = "timeout_idle"
    TIMEOUT_DEADLINE = "timeout_deadline"
    TRUNCATED = "truncated"
    STREAM_ERROR = "stream_error"
    MALFORMED = "malformed"
    EMPTY = "empty"
    WRONG_LENGTH = "wrong_length"
    CUT = "cut"
    UNSENT = "unsent"


class TokenSource(StrEnum):
    """Where a request's token counts come from, best first."""

    USAGE = "usage"
    CONTINUOUS_USAGE = "continuous_usage"
    TOKEN_IDS = "token_ids"
    TOKENIZER = "tokenizer"
    CHUNKS = "chunks"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    WARMUP = "warmup"
    MEASURED = "measured"
    FILLER = "filler"


class Health(Noun, frozen=True, kw_only=True):
    """What the client observed of itself in one cell; judged only by `measure/validity.py`."""

    stamp_source: Literal["kernel", "user"]
    stamped_share: float | None = None
    events_per_read_p99: float | None = None
    merged_read_share: float | None = None  # reads that held more than one event
    late_read_share: float | None = None  # those among them that the client may have merged itself by coming late
    refill_delay_p99_s: float | None = None
    send_lateness_p50_s: float | None = None
    send_lateness_p99_s: float | None = None
    send_lateness_max_s: float | None = None
    loop_lag_p50_s: float | None = None
    loop_lag_p99_s: float | None = None
    loop_lag_max_s: float | None = None
    cpu_share: float | None = None
    steal_share: float | None = None
    gc_passes: int | None = None
    clock_steps: int | None = None
    connections: int | None = None
    keep_alive: bool | None = None
    read_bytes_max: int | None = None
    workers: int = 1
    workers_lost: int = 0  # those that died in this cell
    calibrated_share: float | None = None  # events/s against what a worker sustains; None where that was not measured


class Live(Noun, frozen=True, kw_only=True):
    """What a person watching a running cell wants to know."""

    elapsed_s: float
    left_s: float | None  # None while unknown
    ended: int
    failed: int
    in_flight: int
    output_tok_per_s: float | None
    ttft_p50_s: float | None
    stage: Literal["start", "window", "tail"]


# --- what was measured -------------------------------------------------------------------------------------------


class Window(Noun, frozen=True, kw_only=True):
    """The measured interval [begin_ns, end_ns) and why it starts and ends there."""

    begin_ns: int
    end_ns: int
    begin_reason: str
    end_reason: str
    resolved: bool = True
    due: Literal["sent_ns", "planned_ns"] = "sent_ns"  # the column that places a request inside or outside

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
    """What was noticed; text, weight and advice are rendered from `findings.py` by `code` and `data`."""

    code: str
    data: dict[str, Any] = {}


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
    energy_j: float | None = None
    disqualified: bool = False
    busy_s: float | None = None  # how long the cell kept the endpoint busy, start and tail included
    mid_flight: int | None = None  # equilibrium start: how many slots began so, before the endpoint queued
    loadgen: dict[str, dict[str, float | None]] = {}  # MLPerf LoadGen's early-stopping estimates; null below its floor


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


# --- every night -------------------------------------------------------------------------------------------------


class NightCell(Noun, frozen=True, kw_only=True):
    """One load of one night. `values` by metric (`ttft_p50`), repeats averaged; what is missing or rests on too few is absent."""

    load: Load
    cohort: int
    failed: int
    disqualified: bool
    values: dict[str, float]


class Night(Noun, frozen=True, kw_only=True):
    """What one curve file says about its night."""

    name: str
    file: str
    at: str
    at_s: float
    digest: str | None
    model: str
    profile: Profile
    plan: Plan
    workload: dict[str, Any]  # what must match before nights may be compared
    isl_mean: float | None
    osl_mean: float | None
    facts: dict[str, Any]  # the system as declared or read: `software.version`
    cells: tuple[NightCell, ...]
    frontier: tuple[tuple[float, float], ...]
    frontier_labels: tuple[str, str]


Direction = Literal["worse", "better"]
NightVerdict = Literal["learning", "ok", "suspected", "regressed", "improved", "unjudged"]


class Suspect(Noun, frozen=True, kw_only=True):
    """A figure that moved more than its share of the false-alarm budget allows. `change` is relative, in the metric's own sense."""

    metric: str
    track: Literal["curve", "point", "errors"]
    cell: str | None  # the load (`c16`) of a point's suspicion
    direction: Direction
    change: float
    p: float


class Change(Noun, frozen=True, kw_only=True):
    """A confirmed change. Nights are named by their place in `History.nights`."""

    direction: Direction
    began: int  # by dating, after confirmation
    suspected: int
    confirmed: int
    ended: int | None  # back at the old level from this night on
    suspects: tuple[Suspect, ...]  # as confirmed: the change is that of the nights since


class Judgement(Noun, frozen=True, kw_only=True):
    """What was decided about a night when it was the latest."""

    verdict: NightVerdict
    baseline: int  # how many nights it was compared with
    suspects: tuple[Suspect, ...] = ()
    findings: tuple[Finding, ...] = ()


class Timeline(Noun, frozen=True, kw_only=True):
    """The curve statistic of one metric over the nights, None where not known: relative change against the latest baseline, or,
    while a change is open, against the one before it.

    `low`..`high` is the band outside which a night raises a suspicion. `best` is the best level ever held for five nights
    and `latest` the level now; `drift` the night from which a slow drift is advised.
    """

    metric: str
    title: str
    more_is_better: bool
    change: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    best: float | None = None
    best_night: int | None = None
    latest: float | None = None
    drift: int | None = None


class SetAside(Noun, frozen=True, kw_only=True):
    file: str
    reason: str


class History(Noun, frozen=True, kw_only=True):
    """The nights of one workload on one system, oldest first, and everything that was decided about them."""

    title: str
    nights: tuple[Night, ...]
    judged: tuple[Judgement, ...]  # one a night
    changes: tuple[Change, ...]
    timelines: tuple[Timeline, ...]
    set_aside: tuple[SetAside, ...]
    nights_per_alarm: int
    unfair: str | None = None  # why the latest curve cannot be compared with the others

    @property
    def verdict(self) -> NightVerdict:
        return self.judged[-1].verdict if self.judged and self.unfair is None else "unjudged"
