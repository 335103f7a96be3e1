from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sweep.errors import UsageError
from sweep.model import Plan, Profile
from sweep.plan.profile import load_profile
from sweep.plan.scenario import make_cell, make_plan
from sweep.plan.slo import parse

DEMO = load_profile("demo")


def plan(profile: Profile = DEMO, **wishes: Any) -> Plan:
    return make_plan(profile, **({"slos": (), "seed": 7} | wishes))


def test_the_user_wins_over_the_profile_and_the_profile_over_the_default() -> None:
    assert (plan().limits.duration_s, plan().max_concurrency) == (3.0, 64)
    asked = plan(duration_s=9.0, max_concurrency=8, start="equilibrium", requests=50)
    assert (asked.limits.duration_s, asked.max_concurrency, asked.start, asked.limits.requests) == (9.0, 8, "equilibrium", 50)
    assert (plan(load_profile("1k-1k")).limits.duration_s, plan(load_profile("1k-1k")).max_concurrency) == (None, 512)


def test_slos_of_user_and_profile_once_each() -> None:
    profile = msgspec.structs.replace(DEMO, slos=("ttft<=1s", "mlperf-llama2-70b-server"))
    names = [slo.name for slo in plan(profile, slos=parse("e2e<=2s,ttft_p99<=1s") + parse("ttft<=1s")).slos]
    assert names == ["e2e<=2s,ttft_p99<=1s", "ttft<=1s", "mlperf-llama2-70b-server"]


def test_a_grid_may_pass_the_profiles_limit_but_not_the_users() -> None:
    assert plan(grid=(1.0, 100.0)).max_concurrency == 100
    with pytest.raises(UsageError, match="grid asks for 100 requests in flight, the limit is 8"):
        plan(grid=(1.0, 100.0), max_concurrency=8)


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"duration_s": 0.0}, "duration of 0 s"),
        ({"duration_s": float("nan")}, "duration of nan s"),
        ({"cap_s": -1.0}, "cap of -1 s"),
        ({"idle_timeout_s": 0.0}, "idle timeout of 0 s"),
        ({"requests": 0}, "requests: 0"),
        ({"repeats": 0}, "repeats: 0"),
        ({"max_concurrency": 0}, "max concurrency: 0"),
        ({"kind": "poisson"}, "poisson arrivals need their rates"),
        ({"kind": "gamma", "grid": (1.0,)}, "gamma arrivals need a shape"),
    ],
)
def test_impossible_wishes(wishes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan(**wishes)
    assert says in caught.value.message
    assert caught.value.hint


def test_a_cell_is_the_same_wherever_it_stands() -> None:
    cell = make_cell(plan(), None, index=0, level=4.0, repeat=0, first_request=0)
    later = make_cell(plan(), None, index=5, level=4.0, repeat=0, first_request=900)
    assert msgspec.structs.replace(later, index=0, first_request=0) == cell
    assert cell.limits.duration_s == 3.0
    assert cell.id == "c4.0"


def test_cells_of_another_level_repeat_or_seed_have_other_seeds() -> None:
    seeds = {
        make_cell(plan(seed=seed), None, index=0, level=level, repeat=repeat, first_request=0).seed
        for seed in range(5)
        for level in (0.5, 1.0, 2.0)
        for repeat in range(4)
    }
    assert len(seeds) == 60
    assert all(0 <= seed < 1 << 32 for seed in seeds)
