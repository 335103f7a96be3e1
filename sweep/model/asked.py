"""What is asked for: workload, SLOs, loads, and the plan that puts them in order."""

from __future__ import annotations

from typing import Any, Literal

from sweep.model.noun import Noun


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
    With `rows` every request draws one of a file's pairs of lengths, and `isl` and `osl` only tell of its columns.
    """

    name: str
    title: str
    isl: Length
    osl: Length
    rows: str | None = None  # as plan/rows.py encodes them
    dialect: DialectName = "chat"
    text: str = "prose"
    images: Images | None = None
    start: StartKind = "equilibrium"  # of closed loops
    slos: tuple[str, ...] = ()
    prefix_share: float = 0.0
    body: dict[str, Any] | None = None  # fields of the user's own in every request
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
    """One profile at one load, one repeat: the unit of measurement. `index` is its place in the order of the run.

    `rival_tok_per_s` is what a smaller load is sure to deliver, where it is no use to know well what delivers less.
    """

    index: int
    profile: Profile
    load: Load
    limits: Limits
    start: StartKind
    seed: int
    repeat: int = 0
    first_request: int = 0
    rival_tok_per_s: float | None = None

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
