"""Slots of an equilibrium start open a few at a time, at once when the endpoint queues."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import pytest

from sweep.plan.opening import FEW, Opening

S = 1_000_000_000


def opened_by(slots: int, servers: int, first_s: float, hold_s: float) -> tuple[int, int, float]:
    """(in mid-flight, at most waiting, seconds) at an endpoint that prefills one at a time and holds `servers` requests."""
    opening, now_ns, request, most, mid_flight = Opening(slots), 0, 0, 0, 0
    free: list[int] = [0] * servers
    heapify(free)
    prefilled_ns, due = 0, []
    while opening.left:
        while opening.may_open(now_ns) > 0:
            mid_flight += opening.mid_flight
            opening.opened(request, 1000, now_ns)
            begun_ns = max(now_ns, prefilled_ns, heappop(free))
            prefilled_ns = begun_ns + round(first_s * S)
            heappush(free, prefilled_ns + round(hold_s * S))
            heappush(due, (prefilled_ns, request))
            request += 1
        most = max(most, len(opening.waiting)) if opening.mid_flight else most
        if opening.left:
            now_ns, answered = heappop(due)
            if answered in opening.waiting:
                opening.answered(answered, now_ns)
    return mid_flight, most, now_ns / 1e9


def test_few_wait_at_a_time() -> None:
    mid_flight, most, took_s = opened_by(64, servers=64, first_s=0.05, hold_s=100.0)
    assert (mid_flight, most) == (64, FEW)
    assert took_s == pytest.approx(64 * 0.05, rel=0.1)


def test_an_endpoint_that_queues_gets_the_rest_at_once() -> None:
    mid_flight, _, took_s = opened_by(64, servers=32, first_s=0.05, hold_s=60.0)
    assert 32 <= mid_flight <= 32 + FEW
    assert took_s < 70


def test_a_refusal_ends_the_long_prompts() -> None:
    opening = Opening(8)
    opening.opened(0, 1000, 0)
    opening.answered(0, None)
    assert not opening.mid_flight
    assert opening.may_open(1) == 7


def test_the_first_to_wait_is_never_a_queue_nor_is_a_tenth_of_a_second() -> None:
    opening = Opening(8)
    opening.opened(0, 100, 0)
    assert opening.may_open(50 * S) == FEW - 1
    opening.answered(0, S // 1000)
    opening.opened(1, 100, 0)
    assert opening.may_open(S // 11) == FEW - 1
    assert opening.may_open(S) == 7 - 1
    assert not opening.mid_flight


def test_a_short_prompt_behind_a_long_one_is_no_queue() -> None:
    opening = Opening(8)
    opening.opened(0, 8000, 0)
    opening.answered(0, S)
    opening.opened(1, 8000, S)
    opening.opened(2, 16, S)
    assert opening.may_open(3 * S) == FEW - 2
    opening.answered(2, 3 * S)
    assert opening.mid_flight
