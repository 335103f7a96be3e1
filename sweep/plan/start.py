"""How a closed loop starts as if it had been running for ever: what its slots ask first.

In steady state a slot's running request is found with probability ∝ its OSL (a long one is running more often) and at a
uniformly distributed place in its answer. Slots that begin so need no ramp: phases and KV memory are those of steady state at
once. Stratifying the places over the slots removes the luck of the draw between runs. `opening.py` says when they begin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.model import Cell, Endpoint, Profile, StartKind
from sweep.plan.hashing import mixed, uniform
from sweep.plan.lengths import longest_answer, means, most_tokens, pairs

CONTEXT_SLACK = 1.02  # a prompt that is nearly all of a request's tokens must not pass the limit by a calibration's error
_PLACE_SALT, _ORDER_SALT, _PAIR_SALT = 0x7001, 0x7002, 0x7100


def possible(start: StartKind, profile: Profile, endpoint: Endpoint | None) -> StartKind:
    """The start asked for; cold where the model's context, or the server's limit of a prompt, has no room to spare for prompts
    that hold an answer, and where answers are no text that a prompt could hold.
    """
    if endpoint is not None and endpoint.unit != "tokens":
        return "cold"
    limits = (endpoint.context_tokens, endpoint.facts.get("input_tokens_limit")) if endpoint is not None else ()
    needed = CONTEXT_SLACK * most_tokens(profile)
    return start if all(limit is None or needed <= limit for limit in limits) else "cold"


def first_asked(cell: Cell) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(request, ISL, OSL) of every slot that begins in mid-flight, slot s with request first + s; none in a cold start."""
    slots = round(cell.load.level) if cell.load.kind == "closed" and cell.start == "equilibrium" else 0
    requests = np.arange(cell.first_request, cell.first_request + slots, dtype=np.int64)
    return requests, *equilibrium(cell.profile, slots, cell.seed, requests)


def begun_mid_flight(
    cell: Cell, request: NDArray[np.integer], isl_asked: NDArray[np.int64], osl_asked: NDArray[np.int64]
) -> int:
    """How many slots really began so, from what was asked: an opening that met a queue went on with full requests."""
    requests, isl, osl = first_asked(cell)
    rows = np.flatnonzero((request >= cell.first_request) & (request < cell.first_request + len(requests)))
    place = request[rows] - cell.first_request
    return int(((isl_asked[rows] == isl[place]) & (osl_asked[rows] == osl[place])).sum())


def equilibrium(
    profile: Profile, slots: int, seed: int, requests: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(ISL, OSL) to ask of the first request of each slot, `requests` being those requests' numbers (one a slot).

    The pair behind slot i is drawn with weight ∝ OSL; r_i = ⌈(π(i) + U_i)/C · OSL_i⌉ tokens of it are still to come, π a
    permutation of the C slots. What is already answered moves into the prompt: ISL + OSL − r are sent, r are asked for.
    """
    isl, osl = _length_biased(profile, seed, requests)
    place = (_permutation(slots, seed) + uniform(seed, requests, _PLACE_SALT)) / slots
    left = np.clip(np.ceil(place * osl), 1, osl).astype(np.int64)
    return isl + osl - left, left


def _length_biased(profile: Profile, seed: int, requests: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One pair a request by rejection: a candidate stays with probability OSL / longest OSL.

    Answers above 64 times the mean weigh as that, so that one in 64 candidates stays however long the tail.
    """
    heaviest = min(longest_answer(profile), 64 * means(profile)[1])
    isl, osl = np.empty_like(requests), np.empty_like(requests)
    waiting = np.arange(len(requests))
    attempt = 0
    while len(waiting):
        fresh = mixed(seed ^ (_PAIR_SALT + attempt))
        candidate_isl, candidate_osl = pairs(profile, fresh, requests[waiting])
        stays = uniform(fresh, requests[waiting], _PAIR_SALT) * heaviest < candidate_osl
        isl[waiting[stays]], osl[waiting[stays]] = candidate_isl[stays], candidate_osl[stays]
        waiting = waiting[~stays]
        attempt += 1
    return isl, osl


def _permutation(slots: int, seed: int) -> NDArray[np.int64]:
    return np.argsort(uniform(seed, np.arange(slots, dtype=np.int64), _ORDER_SALT), kind="stable").astype(np.int64)
