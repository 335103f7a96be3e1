"""A profile and what the user asked for become a plan; a plan and a level become a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from sweep.errors import UsageError
from sweep.model import Cell, Effort, Endpoint, Limits, Load, LoadKind, Plan, Profile, Slo, StartKind
from sweep.plan import effort, patience, slo
from sweep.plan import start as begin
from sweep.plan.arrival import OPEN
from sweep.plan.hashing import mixed

MAX_CONCURRENCY = 512
REFINE = 16  # cells at most, after the doubling, within the budget


def make_plan(
    profile: Profile,
    *,
    slos: Sequence[Slo],
    seed: int,
    grid: tuple[float, ...] | None = None,
    duration_s: float | None = None,
    requests: int | None = None,
    max_concurrency: int | None = None,
    kind: LoadKind = "closed",
    shape: float | None = None,
    start: StartKind | None = None,
    repeats: int = 1,
    cap_s: float = 600.0,
    idle_timeout_s: float | None = None,
    diligence: Effort = "standard",
    budget_s: float | None = None,
    refine: int | None = None,
) -> Plan:
    """What the user gave wins over what the profile says; the profile's SLOs are judged beside the user's.

    Raises UsageError where the wishes are impossible or contradict each other.
    """
    for name, value in (("duration", duration_s), ("cap", cap_s), ("idle timeout", idle_timeout_s), ("budget", budget_s)):
        if value is not None and not 0 < value < math.inf:
            raise UsageError(f"{name} of {value:g} s", "give a time above 0, e.g. 30s")
    for name, count in (("requests", requests), ("repeats", repeats), ("max concurrency", max_concurrency)):
        if count is not None and count < 1:
            raise UsageError(f"{name}: {count}", "give 1 or more")
    if kind in OPEN and grid is None:
        raise UsageError(f"{kind} arrivals need their rates", "name them in requests per second, e.g. --rate 2,4,8")
    if kind == "gamma" and not (shape is not None and 0 < shape < math.inf):
        raise UsageError("gamma arrivals need a shape above 0", "1 is Poisson, 0.25 comes in bursts, 10 is nearly even")
    limit = _limit(profile, grid, max_concurrency, kind)
    judged = _slos(profile, slos)
    limits = Limits(
        duration_s=profile.duration_s if duration_s is None else duration_s,
        requests=requests,
        cap_s=cap_s,
        idle_timeout_s=patience.idle_timeout_s(profile, None) if idle_timeout_s is None else idle_timeout_s,
        deadline_s=patience.deadline_s(profile, None),
    )
    return Plan(
        profile=profile,
        slos=judged,
        kind=kind,
        limits=effort.demanding(limits, diligence, judged, budget_s is not None),
        start=(start or profile.start) if kind == "closed" else "cold",
        seed=seed,
        grid=grid,
        max_concurrency=limit,
        repeats=repeats,
        refine=refine if refine is not None else 0 if diligence == "quick" else REFINE,
        effort=diligence,
        budget_s=budget_s,
        shape=shape,
        idle_timeout_s=idle_timeout_s,
    )


def with_budget(plan: Plan, budget_s: float) -> Plan:
    """The plan with another budget, as `make_plan` would have made it."""
    return replace(plan, budget_s=budget_s, limits=replace(plan.limits, stretch=None))


def make_cell(
    plan: Plan,
    endpoint: Endpoint | None,
    *,
    index: int,
    level: float,
    repeat: int,
    first_request: int,
    spend_s: float | None = None,
    rival_tok_per_s: float | None = None,
) -> Cell:
    """The cell at one level. Its seed depends on (plan, level, repeat), so it is the same cell wherever it stands in the order.

    `spend_s` is its share of the budget, `rival_tok_per_s` what a smaller load is sure to deliver.
    """
    silence_s = patience.idle_timeout_s(plan.profile, endpoint) if plan.idle_timeout_s is None else plan.idle_timeout_s
    deadline_s = patience.deadline_s(plan.profile, endpoint)
    return Cell(
        index=index,
        profile=plan.profile,
        load=Load(kind=plan.kind, level=level, shape=plan.shape),
        limits=replace(plan.limits, idle_timeout_s=silence_s, deadline_s=deadline_s, spend_s=spend_s),
        start=begin.possible(plan.start, plan.profile, endpoint),
        seed=_seed(plan.seed, level, repeat),
        repeat=repeat,
        first_request=first_request,
        rival_tok_per_s=rival_tok_per_s,
    )


def _limit(profile: Profile, grid: tuple[float, ...] | None, asked: int | None, kind: LoadKind) -> int:
    """The most slots the sweep may open: as asked; else what the profile and the grid need."""
    limit = asked or profile.max_concurrency or MAX_CONCURRENCY
    if grid is None or kind in OPEN:
        return limit
    top = int(max(grid))
    if asked is not None and top > asked:
        raise UsageError(
            f"grid asks for {top} requests in flight, the limit is {asked}", "raise --max-concurrency or shorten --grid"
        )
    return max(limit, top)


def _slos(profile: Profile, given: Sequence[Slo]) -> tuple[Slo, ...]:
    declared = (item for text in profile.slos for item in slo.parse(text))
    return tuple({item.name: item for item in (*given, *declared)}.values())


def _seed(seed: int, level: float, repeat: int) -> int:
    """32 bits, so that JSON readers of every language keep it exact."""
    return mixed(mixed(mixed(seed) ^ round(level * 1e6)) ^ repeat) >> 32
