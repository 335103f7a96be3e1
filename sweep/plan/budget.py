"""What a plan will take: requests, tokens, time, and what each cell may have of a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from sweep.errors import ProfileError, UsageError
from sweep.model import Endpoint, Expected, Plan, Profile
from sweep.plan import effort, lengths, start
from sweep.plan.arrival import OPEN
from sweep.plan.grid import doubling
from sweep.plan.pace import PREFILL_SHARE, pace_of, steady_state
from sweep.plan.profile import list_profiles

SHORTEST_WINDOW_S = 20.0
P99 = 5000  # requests that make a p99
REQUEST_EVENTS = 5  # what sending a request and ending it costs the client, in events
LONGER, VARYING = 1.25, 2.5  # shortest windows that a cell takes, more or less, to know its figures; where lengths vary
PRECISION = 0.5  # of what a budget holds beyond the shortest cells; the rest is for refinement


def require_context(profile: Profile, endpoint: Endpoint) -> None:
    """Raises ProfileError where the model's context, if known, cannot hold the longest request; names the profiles that fit.

    Texts of a batch and documents to be ranked have a context each: what fits is for the server to say.
    """
    context = endpoint.context_tokens
    if context is None or endpoint.unit != "tokens" or lengths.most_tokens(profile) <= context:
        return
    alike = [known for known in list_profiles() if known.dialect == profile.dialect]
    fitting = [known.name for known in alike if lengths.most_tokens(known) <= context]
    raise ProfileError(
        f"profile {profile.name} needs {lengths.most_tokens(profile)} tokens, {endpoint.model} holds {context}",
        f"these fit: {', '.join(fitting)}" if fitting else "give shorter lengths as ISL/OSL, e.g. --profile 128/64",
    )


def expected(plan: Plan, endpoint: Endpoint | None) -> Expected:
    """Requests, tokens and time of the whole grid; without one, of the doubling ladder to its end and its refinement.

    Estimates: cells go on while what is asked of them is not known well enough, which takes one shortest window to four, and
    the ladder may end early. A budget holds as many cells, in their order, as it can give the shortest time; what it holds
    beyond all of them is spent on knowing their figures better.
    """
    levels = (plan.grid or doubling(plan.max_concurrency)) * plan.repeats
    pace = pace_of(endpoint)
    beyond = plan.refine if plan.grid is None else 0
    if pace is None:
        return Expected(cells=len(levels) + beyond)
    longer = VARYING if lengths.vary(plan.profile) else LONGER
    longer = longer if plan.limits.gates and plan.budget_s is None else 1.0
    cells = [_cell(plan, level, *pace, longer) for level in levels]
    share = 1 + effort.REFINEMENT * bool(beyond)
    if plan.budget_s is not None:
        held = sum(until_s <= plan.budget_s for until_s in accumulate(cell.seconds for cell in cells))
        if held < len(cells):
            cells, levels, beyond, share = cells[:held], levels[:held], 0, 1
        else:
            most = plan.budget_s / sum(cell.seconds for cell in cells)
            share = most if plan.limits.gates else min(share, most)
    seconds = sum(cell.seconds for cell in cells)
    requests, in_flight = (
        share * sum(column) for column in zip(*((cell.requests, cell.in_flight) for cell in cells), strict=True)
    )
    isl, osl = lengths.means(plan.profile)
    cut = osl * in_flight / 2  # the last of every slot is cut, at half of its answer
    begun = cut if start.possible(plan.start, plan.profile, endpoint) == "equilibrium" else 0.0  # the first, in its prompt
    return Expected(
        cells=len(cells) + beyond,
        requests=round(requests),
        input_tokens=round(requests * isl + begun),
        output_tokens=round(requests * osl - cut - begun),
        seconds=share * seconds,
        tail_seconds=sum(extra_s(plan, level, endpoint, P99) or 0.0 for level in levels),
    )


def least_s(plan: Plan, endpoint: Endpoint | None, level: float) -> float | None:
    """The shortest time that a cell can be measured in, start and tail included; None while the pace is unknown."""
    pace = pace_of(endpoint)
    return None if pace is None else _cell(plan, level, *pace).seconds


def require_time(plan: Plan, endpoint: Endpoint | None) -> None:
    """Raises UsageError where the budget does not hold the first cell."""
    first_s = least_s(plan, endpoint, plan.grid[0] if plan.grid else 1.0) or 0.0
    if plan.budget_s is not None and plan.budget_s < first_s:
        raise UsageError(
            f"--budget {plan.budget_s:g}s is too little for one cell of {plan.profile.name}",
            f"the first takes about {math.ceil(first_s)} s at least; --duration makes cells shorter",
        )


def extra_s(plan: Plan, level: float, endpoint: Endpoint | None, requests: int) -> float | None:
    """How much longer than its shortest window a cell must measure to have so many requests; None while the pace is unknown."""
    pace = pace_of(endpoint)
    if pace is None:
        return None
    e2e_s, rate = steady_state(plan, level, *pace)
    return max(0.0, requests / rate - _window_s(plan, e2e_s, rate))


def busiest(plan: Plan, endpoint: Endpoint | None) -> tuple[float, float]:
    """(connections, events/s) that the plan's heaviest load asks of the client; no events/s while the pace is unknown.

    An event is a token of a stream, or an answer that comes as a whole. A request costs the client about five of them.
    """
    levels = plan.grid or doubling(plan.max_concurrency)
    pace = pace_of(endpoint)
    if pace is None:
        return (0.0 if plan.kind in OPEN else max(levels), 0.0)
    streamed = endpoint is not None and endpoint.unit == "tokens"
    events = REQUEST_EVENTS + (lengths.means(plan.profile)[1] if streamed else 1.0)
    steady = [steady_state(plan, level, *pace) for level in levels]
    connections = max(e2e_s * rate for e2e_s, rate in steady)
    return connections, events * max(rate for _, rate in steady)


def share_s(plan: Plan, endpoint: Endpoint | None, level: float, ahead: Sequence[float], spent_s: float) -> float | None:
    """How long the next cell may keep the endpoint busy, `ahead` being the levels planned after it; None without a budget.

    Every cell gets the shortest time it can be measured in. What the budget holds beyond, without a grid half of it (the
    other half is for refinement), is divided by what each cell needs to resolve what is asked of it. Without a pace all
    cells get the same.
    """
    if plan.budget_s is None:
        return None
    left_s = max(0.0, plan.budget_s - spent_s)
    levels = (level, *ahead)
    pace = pace_of(endpoint)
    if pace is None:
        return left_s / len(levels)
    least_s = [_cell(plan, each, *pace).seconds for each in levels]
    wanted = effort.requests_wanted(plan.limits)
    needs_s = [extra_s(plan, each, endpoint, wanted) or 0.0 for each in levels]
    spare_s = (PRECISION if plan.grid is None else 1.0) * max(0.0, left_s - sum(least_s))
    return least_s[0] + spare_s * (needs_s[0] / sum(needs_s) if sum(needs_s) else 1 / len(levels))


class _Cell(NamedTuple):
    requests: float
    seconds: float
    in_flight: float


def _cell(plan: Plan, level: float, ttft_s: float, tpot_s: float, longer: float = 1.0) -> _Cell:
    """One cell: start, window (`longer` times the shortest), tail."""
    e2e_s, rate = steady_state(plan, level, ttft_s, tpot_s)
    isl, osl = lengths.means(plan.profile)
    start_s = 2 * e2e_s if plan.start == "cold" else ttft_s + level * (isl + osl / 2) * PREFILL_SHARE * tpot_s
    seconds = start_s + min(plan.limits.cap_s, longer * _window_s(plan, e2e_s, rate)) + e2e_s
    return _Cell(rate * seconds, seconds, rate * e2e_s)


def _window_s(plan: Plan, e2e_s: float, rate: float) -> float:
    """`--duration` is the window but never below one E2E, `--requests` the least cohort, the cap the most time.

    Without a duration a window also waits for the fewest requests whose median has an interval.
    """
    limits = plan.limits
    asked_s = max(limits.duration_s, e2e_s) if limits.duration_s is not None else max(SHORTEST_WINDOW_S, 2 * e2e_s)
    fewest = effort.FEWEST if limits.duration_s is None else 0
    cohort_s = max(fewest, limits.requests or 0) / rate
    return min(limits.cap_s, max(asked_s, cohort_s))
