"""What a comparison says. Curves are called A, B, C… in the order of the files; a ratio is always the first one's over the other's.

Everything is plain data in the units of its name, so that terminal, page, Markdown and JSON say the same.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from sweep.model import Estimate, Noun, Slo

SCHEMA = "sweep.comparison/1"

Standing = Literal["measured", "interpolated", "undecided", "unreachable"]
Call = Literal["better", "worse", "equivalent", "inconclusive"]
Measure = Literal["throughput", "cost", "energy"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
HowKnown = Literal["measured", "declared"]


class Side(Noun, frozen=True, kw_only=True):
    """A curve taking part. Prices are inputs beside the measurement."""

    label: str
    name: str
    model: str
    url: str
    measured_at: str
    digest: str | None
    accelerators: int | None
    runs: int  # of a load, at least; with one, nothing is known of how runs differ
    open_loop: bool = False  # loads are arrivals a second, else requests in flight
    price_per_accelerator_hour: float | None = None
    price_per_million_output_tokens: float | None = None
    currency: str | None = None
    power_w_per_accelerator: float | None = (
        None  # declared; what points measured outweighs it, unless it was given by the buyer
    )
    power_given: bool = False


class Difference(Noun, frozen=True, kw_only=True):
    """Something that is not the same on all sides. `unfair`: it forbids putting the numbers together."""

    key: str
    values: dict[str, Any]  # label -> what that side says; None: it does not say
    unfair: bool
    says: str


class Target(Noun, frozen=True, kw_only=True):
    """What the buyer needs: an SLO, or a place on the axis (`x`, in the axis' unit). `demanded`: asked for by name."""

    name: str
    slo: Slo | None = None
    x: float | None = None
    weight: float | None = None
    demanded: bool = False


class Energy(Noun, frozen=True, kw_only=True):
    """What the whole system draws at a target, and what that makes of a token: J/token is W/(tok/s). Power is taken as exact."""

    known: HowKnown
    power_w: float
    per_token_j: Estimate
    tok_per_s_per_mw: float


class Served(Noun, frozen=True, kw_only=True):
    """What one side delivers at a target, as a whole system; good tokens only under an SLO.

    `attained` was measured, `ceiling` cannot be exceeded if more load never brings less; None: no measurement says.
    `load` is the highest that meets an SLO (interpolated), `measured_load` the highest measured one that does. `loads` are the
    measured ones that the answer rests on.
    """

    label: str
    standing: Standing
    tok_per_s: Estimate
    attained: float | None = None
    ceiling: float | None = None
    load: float | None = None
    measured_load: float | None = None
    fails_at: float | None = None
    loads: tuple[float, ...] = ()
    attainment: float | None = None
    cost_per_million: Estimate | None = None
    energy: Energy | None = None


class Ratio(Noun, frozen=True, kw_only=True):
    """A ratio, its 95 % interval (low, high) and its bracket by the measurements alone (least, most). None: no limit is known."""

    value: float | None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None


class Verdict(Noun, frozen=True, kw_only=True):
    """Side `a` against side `b` at a target. p-values are adjusted by Holm over all targets and pairs of this comparison."""

    target: str
    of: Measure
    a: str
    b: str
    call: Call
    ratio: Ratio
    p_differs: float | None
    p_equivalent: float | None


class Answer(Noun, frozen=True, kw_only=True):
    """A target with what every side delivers there."""

    target: Target
    served: tuple[Served, ...]


class Gain(Noun, frozen=True, kw_only=True):
    """The mean ratio over the window of x that both curves cover (Bjøntegaard, in logs); null where they share none.

    `share_won`, `share_lost`: of the window, in ln x, where a is ahead or behind by more than δ. `crossings`: where they are level as
    measured; `sure_crossings`: those that noise cannot explain, since each is ahead by a decided margin on its own side.
    """

    a: str
    b: str
    window: tuple[float, float] | None
    ratio: Ratio
    share_won: float | None = None
    share_lost: float | None = None
    best: tuple[float, float] | None = None  # x, ratio
    worst: tuple[float, float] | None = None
    crossings: tuple[float, ...] = ()
    sure_crossings: tuple[float, ...] = ()


class Demand(Noun, frozen=True, kw_only=True):
    """The mean cost of a million (good) tokens over the buyer's own mix of targets, of what is served.

    Beside it the shares of the mix that are not: out of reach or missed, and too thinly measured to say.
    """

    label: str
    cost_per_million: Estimate | None
    unreachable_share: float
    undecided_share: float


class Within(Noun, frozen=True, kw_only=True):
    """The highest x at which a million output tokens cost no more than the ceiling."""

    label: str
    cost_ceiling: float
    x: float | None  # interpolated
    measured_x: float | None


class Comparison(Noun, frozen=True, kw_only=True):
    schema: str
    axis: str
    x: str
    x_label: str
    y_label: str
    rate_unit: str  # of throughput, `tok/s` for answers of tokens; "tokens" elsewhere are whatever the dialect counts
    basis: Literal["accelerator", "system"]  # what throughputs are divided by before they are compared
    delta: float
    draws: int
    seed: int
    paired: bool
    currency: str | None
    sides: tuple[Side, ...]
    differences: tuple[Difference, ...]
    answers: tuple[Answer, ...]
    verdicts: tuple[Verdict, ...]
    gains: tuple[Gain, ...]
    demand: tuple[Demand, ...] = ()
    within: tuple[Within, ...] = ()
    unknown_noise: tuple[str, ...] = ()  # sides without intervals: nothing can be decided about them

    @property
    def unfair(self) -> tuple[Difference, ...]:
        return tuple(difference for difference in self.differences if difference.unfair)
