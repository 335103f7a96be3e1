"""The equilibrium start: residuals stratified over slots, lengths conserved, pairs weighted by OSL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sweep.model import Calibration, Cell, Endpoint, Length, Limits, Load, Profile
from sweep.plan.lengths import expected, pairs
from sweep.plan.start import begun_mid_flight, equilibrium, first_asked, possible

FIXED = Profile(name="fixed", title="", isl=Length(mean=1024), osl=Length(mean=1000))
RANGE = Profile(name="range", title="", isl=Length(max=1024, range_ratio=0.8), osl=Length(max=1024, range_ratio=0.25))


@pytest.mark.parametrize("slots", [1, 7, 64])
def test_every_stratum_of_the_answer_holds_one_slot(slots: int) -> None:
    _, left = equilibrium(FIXED, slots, 3, np.arange(slots))
    strata = np.ceil(left / 1000 * slots - 1e-9)
    assert sorted(strata) == pytest.approx(np.arange(1, slots + 1), abs=1)
    assert np.abs(np.sort(left) - (np.arange(slots) + 0.5) / slots * 1000).max() <= 1000 / slots / 2 + 1


def test_what_is_answered_moves_into_the_prompt() -> None:
    isl, left = equilibrium(FIXED, 64, 3, np.arange(100, 164))
    assert (isl + left == 2024).all()
    assert left.min() >= 1
    assert left.max() <= 1000


def test_long_answers_are_found_running_more_often() -> None:
    """E[r] = E[OSL²]/(2·E[OSL]): the mean residual of a renewal process."""
    slots = 4096
    _, osl = pairs(RANGE, 9, np.arange(200_000))
    _, left = equilibrium(RANGE, slots, 3, np.arange(slots))
    assert left.mean() == pytest.approx((osl.astype(float) ** 2).mean() / (2 * osl.mean()) + 0.5, rel=0.01)
    assert left.mean() > expected(RANGE.osl) / 2 * 1.05


def test_slots_are_in_no_order_and_seeds_differ() -> None:
    _, one = equilibrium(FIXED, 64, 1, np.arange(64))
    _, two = equilibrium(FIXED, 64, 2, np.arange(64))
    assert abs(np.corrcoef(np.arange(64), one)[0, 1]) < 0.4
    assert not (one == two).all()
    assert (one == equilibrium(FIXED, 64, 1, np.arange(64))[1]).all()


def test_lengths_keep_their_bounds() -> None:
    isl, left = equilibrium(RANGE, 512, 5, np.arange(512))
    assert left.min() >= 1
    assert (isl + left).max() <= 2048
    assert (isl + left).min() >= 820 + 256


def test_a_far_tail_costs_no_time() -> None:
    tail = Profile(name="tail", title="", isl=Length(mean=10), osl=Length(mean=100, sd=100, max=1 << 30))
    _, left = equilibrium(tail, 512, 1, np.arange(512))
    assert 50 < left.mean() < 200


def endpoint(**changes: Any) -> Endpoint:
    calibration = Calibration(tokens_per_word=1.0, template_tokens=0.0, source="usage")
    return Endpoint(url="u", model="m", dialect="chat", calibration=calibration, **changes)


def test_a_context_without_room_to_spare_starts_cold() -> None:
    assert possible("equilibrium", FIXED, None) == "equilibrium"
    assert possible("equilibrium", FIXED, endpoint(context_tokens=4096)) == "equilibrium"
    assert possible("equilibrium", FIXED, endpoint(context_tokens=2030)) == "cold"
    assert possible("equilibrium", FIXED, endpoint(unit="vectors")) == "cold"
    assert possible("equilibrium", FIXED, endpoint(context_tokens=4096, facts={"input_tokens_limit": 1100})) == "cold"
    assert possible("cold", FIXED, endpoint()) == "cold"


def cell(start: str, kind: str = "closed") -> Cell:
    return Cell(index=0, profile=FIXED, load=Load(kind=kind, level=8), limits=Limits(), start=start, seed=3, first_request=100)


def test_slot_s_asks_first_what_request_first_plus_s_is() -> None:
    requests, isl, osl = first_asked(cell("equilibrium"))
    assert requests.tolist() == list(range(100, 108))
    assert (isl + osl == 2024).all()
    assert all(len(first_asked(one)[0]) == 0 for one in (cell("cold"), cell("equilibrium", "poisson")))


def test_what_was_asked_says_how_many_began_in_mid_flight() -> None:
    requests, isl, osl = first_asked(cell("equilibrium"))
    asked = np.append(requests, 108), np.append(isl, 1024), np.append(osl, 1000)
    assert begun_mid_flight(cell("equilibrium"), *asked) == 8
    asked[1][5:8], asked[2][5:8] = 1024, 1000
    assert begun_mid_flight(cell("equilibrium"), *asked) == 5
