"""What curves of many nights say together."""

from __future__ import annotations

from typing import Any, Literal

from sweep.model.asked import Load, Plan, Profile
from sweep.model.measured import Finding
from sweep.model.noun import Noun


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
    suspects: tuple[Suspect, ...] = ()  # as this night shows them
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
