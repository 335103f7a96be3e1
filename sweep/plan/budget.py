"""What a plan will take, and how long a request may take before it is given up.

Both rest on the pace of a lone request that preflight saw: TTFT of a short prompt, TPOT.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from sweep.errors import ProfileError
from sweep.model import Endpoint, Expected, Plan, Profile
from sweep.plan import effort, lengths, start
from sweep.plan.arrival import OPEN
from sweep.plan.grid import doubling
from sweep.plan.profile import list_profiles

SLOWDOWN = 100
SHORTEST_DEADLINE_S = 600.0
SHORTEST_SILENCE_S = 60.0
ASSUMED_TTFT_S = 1.0
ASSUMED_TPOT_S = 0.02
SHORTEST_WINDOW_S = 20.0
# What a token costs those who share the step, in units of a lone request's TPOT: of a prompt, of an answer, and for each
# token that one of an answer looks back upon.
PREFILL_SHARE = 1 / 150
DECODE_SHARE = 1 / 1000
LOOK_BACK_SHARE = 5e-6
P99 = 5000  # requests that make a p99
REQUEST_EVENTS = 5  # what sending a request and ending it costs the client, in events
LONGER, VARYING = 1.25, 2.5  # shortest windows that a cell takes, more or less, to know its figures; where lengths vary
PRECISION = 0.5  # of what a budget holds beyond the shortest cells; the rest is for refinement


def deadline_s(profile: Profile, endpoint: Endpoint | None) -> float:
    """Seconds after which a request is given up although bytes still drip; the idle timeout catches silence earlier.

    A hundred times what the longest request would take alone (probed TTFT, and probed TPOT for each of its input and output
    tokens: a prompt token never costs more than an output token), at least ten minutes. An honest answer slowed 64-fold by
    the load is so kept with room to spare. Without a probe a lone request is taken to need 1 s and 20 ms a token.
    """
    ttft_s, tpot_s = _pace(endpoint) or (ASSUMED_TTFT_S, ASSUMED_TPOT_S)
    return max(SHORTEST_DEADLINE_S, SLOWDOWN * (ttft_s + lengths.most_tokens(profile) * tpot_s))


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


def idle_timeout_s(profile: Profile, endpoint: Endpoint | None) -> float:
    """Seconds of silence after which a request is given up: a quarter of its deadline, at least a minute.

    A server that only queues is honestly silent until a request's turn comes.
    """
    return max(SHORTEST_SILENCE_S, deadline_s(profile, endpoint) / 4)


def expected(plan: Plan, endpoint: Endpoint | None) -> Expected:
    """Requests, tokens and time of the whole grid; without one, of the doubling ladder to its end and its refinement.

    Estimates: cells go on while what is asked of them is not known well enough, which takes one shortest window to four, and
    the ladder may end early. A budget is spent on its cells, whatever they would need at least.

    Batching assumption: beside C−1 others a request takes E(C) = E(1) + (C−1)·e, where e is what it costs the others: its
    input tokens at 1/150 of a lone TPOT, and its output tokens at 1/1000 and 5·10⁻⁶ more for each token of context, whose
    keys and values are read. Against the simulator's dense presets, 8B and 70B, that holds within 25 % where prompts
    outweigh and within a factor of two at 1K/8K; mixtures of experts are slower in between, servers that do not batch always.
    """
    levels = (plan.grid or doubling(plan.max_concurrency)) * plan.repeats
    pace = _pace(endpoint)
    beyond = plan.refine if plan.grid is None else 0
    if pace is None:
        return Expected(cells=len(levels) + beyond)
    longer = VARYING if lengths.vary(plan.profile) else LONGER
    longer = longer if plan.limits.gates and plan.budget_s is None else 1.0
    cells = [_cell(plan, level, *pace, longer) for level in levels]
    seconds = sum(cell.seconds for cell in cells)
    share = 1 + effort.REFINEMENT * bool(beyond) if plan.budget_s is None else plan.budget_s / seconds
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


def extra_s(plan: Plan, level: float, endpoint: Endpoint | None, requests: int) -> float | None:
    """How much longer than its shortest window a cell must measure to have so many requests; None while the pace is unknown."""
    pace = _pace(endpoint)
    if pace is None:
        return None
    e2e_s, rate = _steady(plan, level, *pace)
    return max(0.0, requests / rate - _window_s(plan, e2e_s, rate))


def busiest(plan: Plan, endpoint: Endpoint | None) -> tuple[float, float]:
    """(connections, events/s) that the plan's heaviest load asks of the client; no events/s while the pace is unknown.

    An event is a token of a stream, or an answer that comes as a whole. A request costs the client about five of them.
    """
    levels = plan.grid or doubling(plan.max_concurrency)
    pace = _pace(endpoint)
    if pace is None:
        return (0.0 if plan.kind in OPEN else max(levels), 0.0)
    streamed = endpoint is not None and endpoint.unit == "tokens"
    events = REQUEST_EVENTS + (lengths.means(plan.profile)[1] if streamed else 1.0)
    steady = [_steady(plan, level, *pace) for level in levels]
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
    pace = _pace(endpoint)
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
    e2e_s, rate = _steady(plan, level, ttft_s, tpot_s)
    isl, osl = lengths.means(plan.profile)
    start_s = 2 * e2e_s if plan.start == "cold" else ttft_s + level * (isl + osl / 2) * PREFILL_SHARE * tpot_s
    seconds = start_s + min(plan.limits.cap_s, longer * _window_s(plan, e2e_s, rate)) + e2e_s
    return _Cell(rate * seconds, seconds, rate * e2e_s)


def _steady(plan: Plan, level: float, ttft_s: float, tpot_s: float) -> tuple[float, float]:
    """(E2E in s, requests/s) at one load."""
    isl, osl = lengths.means(plan.profile)
    alone_s = ttft_s + (isl * PREFILL_SHARE + max(0.0, osl - 1)) * tpot_s
    others_s = (isl * PREFILL_SHARE + osl * (DECODE_SHARE + (isl + osl / 2) * LOOK_BACK_SHARE)) * tpot_s
    in_flight = level * alone_s / max(0.1, 1 - level * others_s) if plan.kind in OPEN else level
    e2e_s = alone_s + max(0.0, in_flight - 1) * others_s
    return e2e_s, level if plan.kind in OPEN else level / e2e_s


def _window_s(plan: Plan, e2e_s: float, rate: float) -> float:
    """`--duration` is the window but never below one E2E, `--requests` the least cohort, the cap the most time.

    Without a duration a window also waits for the fewest requests whose median has an interval.
    """
    limits = plan.limits
    asked_s = max(limits.duration_s, e2e_s) if limits.duration_s is not None else max(SHORTEST_WINDOW_S, 2 * e2e_s)
    fewest = effort.FEWEST if limits.duration_s is None else 0
    cohort_s = max(fewest, limits.requests or 0) / rate
    return min(limits.cap_s, max(asked_s, cohort_s))


def _pace(endpoint: Endpoint | None) -> tuple[float, float] | None:
    """(TTFT, TPOT) of a lone request, where both are known and make sense."""
    if endpoint is None or endpoint.ttft_s is None or endpoint.tpot_s is None:
        return None
    known = math.isfinite(endpoint.ttft_s) and math.isfinite(endpoint.tpot_s) and endpoint.ttft_s > 0 and endpoint.tpot_s >= 0
    return (endpoint.ttft_s, endpoint.tpot_s) if known else None
