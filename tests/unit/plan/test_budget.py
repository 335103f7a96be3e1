from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sweep.errors import ProfileError, UsageError
from sweep.model import Calibration, Endpoint, Plan
from sweep.plan.budget import expected, least_s, require_context, require_time, share_s
from sweep.plan.patience import deadline_s
from sweep.plan.profile import load_profile
from sweep.plan.scenario import REFINE, make_plan


def endpoint(ttft_s: float | None = 0.04, tpot_s: float | None = 0.006) -> Endpoint:
    calibration = Calibration(tokens_per_word=1.1, template_tokens=20, source="usage")
    return Endpoint(url="http://h/v1", model="m", dialect="chat", calibration=calibration, ttft_s=ttft_s, tpot_s=tpot_s)


def plan(name: str, **wishes: Any) -> Plan:
    return make_plan(load_profile(name), slos=(), seed=0, **wishes)


@pytest.mark.parametrize("tpot_s", [0.003, 0.025, 0.2])
def test_an_honest_answer_at_64_fold_slowdown_is_not_killed(tpot_s: float) -> None:
    honest_s = 64 * (1.0 + 8192 * tpot_s)
    assert deadline_s(load_profile("1k-8k"), endpoint(1.0, tpot_s)) > honest_s
    assert deadline_s(load_profile("1k-8k"), None) > 64 * 8192 * 0.02


def test_a_deadline_is_at_least_ten_minutes_and_grows_with_the_answer() -> None:
    assert deadline_s(load_profile("demo"), endpoint()) == 600
    assert deadline_s(load_profile("1k-8k"), endpoint()) > deadline_s(load_profile("1k-1k"), endpoint())


def test_an_unknown_pace_leaves_time_unknown() -> None:
    for unknown in (None, endpoint(None, 0.006), endpoint(0.04, None), endpoint(float("nan"), 0.006)):
        guess = expected(plan("1k-1k"), unknown)
        assert guess.cells == 10 + REFINE
        assert (guess.requests, guess.input_tokens, guess.output_tokens, guess.seconds) == (None, None, None, None)


@pytest.mark.parametrize(
    ("profile", "throughput"),
    [
        ("1k-1k-ifx", {1: 171, 16: 2158, 64: 5210, 256: 8077}),
        ("8k-1k-ifx", {1: 156, 16: 936, 64: 1300, 256: 1302}),
        ("1k-8k-ifx", {1: 167, 16: 1678, 64: 3094, 256: 3365}),
    ],
)
def test_the_batching_assumption_holds_within_a_factor_of_two(profile: str, throughput: dict[int, float]) -> None:
    """Against a simulated 8B model on one accelerator (output tok/s by concurrency)."""
    for level, tok_per_s in throughput.items():
        guess = expected(plan(profile, grid=(float(level),), cap_s=1e6), endpoint(0.02, 0.0058))
        assert 0.5 < guess.output_tokens / guess.seconds / tok_per_s < 2


def test_what_begins_and_ends_in_mid_flight_costs_what_it_is_asked() -> None:
    """Half of the first answers stands in the prompts; half of the last is cut."""
    warm, cold = (
        expected(plan("1k-1k", grid=(8.0,), duration_s=60.0, start=how), endpoint()) for how in ("equilibrium", "cold")
    )
    assert warm.input_tokens == pytest.approx(1024 * warm.requests + 4 * 1024, rel=1e-2)
    assert warm.output_tokens == pytest.approx(1024 * (warm.requests - 8), rel=1e-2)
    assert cold.input_tokens == pytest.approx(1024 * cold.requests, rel=1e-2)
    assert cold.output_tokens == pytest.approx(1024 * (cold.requests - 4), rel=1e-2)


@pytest.mark.parametrize("wishes", [{"duration_s": 60.0}, {"diligence": "quick"}])
def test_what_is_not_asked_to_be_precise_goes_on_for_no_longer(wishes: dict[str, Any]) -> None:
    fixed, varying = (
        expected(plan(name, grid=(4.0,), start="equilibrium", **wishes), endpoint()).seconds for name in ("1k-1k", "1k-1k-ifx")
    )
    gated = [expected(plan(name, grid=(4.0,), start="equilibrium"), endpoint()).seconds for name in ("1k-1k", "1k-1k-ifx")]
    assert varying < 1.2 * fixed
    assert gated[1] > 1.3 * gated[0]


def test_requests_and_tokens_follow_from_the_window() -> None:
    short, long = (expected(plan("demo", grid=(4.0,), duration_s=d), endpoint()) for d in (10.0, 100.0))
    assert long.requests > 7 * short.requests
    assert long.input_tokens == pytest.approx(128 * long.requests, rel=0.01)
    assert long.seconds == pytest.approx(short.seconds + 90)


def test_a_demanded_cohort_lengthens_the_window_up_to_the_cap() -> None:
    wanted = expected(plan("demo", grid=(1.0,), requests=500), endpoint())
    capped = expected(plan("demo", grid=(1.0,), requests=500_000, cap_s=60), endpoint())
    assert wanted.requests >= 500
    assert capped.seconds < 70


def test_repeats_and_ladders_count_cells() -> None:
    assert expected(plan("demo", repeats=3), endpoint()).cells == 21 + REFINE
    assert expected(plan("demo", repeats=3, diligence="quick"), endpoint()).cells == 21
    assert expected(plan("demo", grid=(1.0, 2.0)), endpoint()).cells == 2


def test_the_demonstration_takes_less_than_a_minute() -> None:
    """At the pace of the embedded endpoint's default preset."""
    guess = expected(plan("demo"), endpoint(0.01, 0.0058))
    assert guess.cells == 7 + REFINE
    assert guess.seconds < 60


def test_a_budget_is_what_the_sweep_takes() -> None:
    assert expected(plan("1k-1k", budget_s=1200.0), endpoint()).seconds == pytest.approx(1200)


def test_a_budget_for_some_of_the_cells_is_planned_as_what_those_take() -> None:
    grid = (1.0, 2.0, 4.0, 8.0)
    shortest = [least_s(plan("128/64", grid=grid), endpoint(), level) for level in grid]
    some = expected(plan("128/64", grid=grid, budget_s=50.0), endpoint())
    assert (some.cells, some.seconds) == (2, pytest.approx(sum(shortest[:2])))
    assert some.requests < expected(plan("128/64", grid=grid), endpoint()).requests / 3
    assert expected(plan("128/64", budget_s=50.0), endpoint()).cells == 2
    assert expected(plan("128/64", grid=grid, budget_s=sum(shortest)), endpoint()).cells == 4


def test_a_budget_is_not_spent_on_cells_whose_length_is_demanded() -> None:
    demanded, budgeted = (expected(plan("128/64", grid=(4.0,), duration_s=10.0, **more), endpoint()) for more in ({}, LARGE))
    assert budgeted == demanded


LARGE = {"budget_s": 3600.0}


def test_a_budget_too_small_for_any_cell_is_refused() -> None:
    first_s = least_s(plan("128/64"), endpoint(), 1.0)
    require_time(plan("128/64", budget_s=first_s), endpoint())
    require_time(plan("128/64", budget_s=1.0), endpoint(None))
    require_time(plan("128/64"), endpoint())
    with pytest.raises(UsageError, match="--budget 15s is too little for one cell of 128-64") as caught:
        require_time(plan("128/64", budget_s=15.0, grid=(8.0,), duration_s=20.0), endpoint())
    assert "at least" in (caught.value.hint or "")


def test_what_p99_costs_is_said_beforehand() -> None:
    alone = expected(plan("1k-1k", grid=(1.0,)), endpoint())
    e2e_s = 0.04 + 1024 * 0.006
    assert alone.tail_seconds == pytest.approx(5000 * e2e_s, rel=0.1)


def test_a_budget_is_divided_by_what_each_cell_still_needs() -> None:
    """p99 needs 5,000 requests everywhere: many more seconds at concurrency 4 than at 64."""
    grid = (4.0, 16.0, 64.0)
    wide = plan("1k-1k", grid=grid, budget_s=50_000.0, diligence="rigorous")
    four, sixteen, many = (share_s(wide, endpoint(), level, tuple(set(grid) - {level}), 0.0) for level in grid)
    assert four > 2 * sixteen
    assert sixteen > 1.5 * many
    assert four + sixteen + many == pytest.approx(50_000)


def test_without_a_budget_there_are_no_shares_and_a_small_one_still_holds_the_shortest_cells() -> None:
    assert share_s(plan("1k-1k"), endpoint(), 1.0, (2.0,), 0.0) is None
    assert share_s(plan("1k-1k", budget_s=10.0), endpoint(), 1.0, (2.0, 4.0), 0.0) > 20
    assert share_s(plan("1k-1k", budget_s=90.0), None, 1.0, (2.0, 4.0), 30.0) == 20


def test_an_open_loop_sends_what_its_rate_says() -> None:
    guess = expected(plan("demo", grid=(5.0,), kind="poisson", duration_s=60.0), endpoint())
    assert guess.requests == pytest.approx(5 * guess.seconds, abs=1)


def test_a_context_that_is_too_short_names_what_fits() -> None:
    small = msgspec.structs.replace(endpoint(), context_tokens=2048)
    require_context(load_profile("1k-1k"), small)
    require_context(load_profile("1k-8k"), endpoint())
    with pytest.raises(ProfileError, match="profile 1k-8k needs 9216 tokens, m holds 2048") as caught:
        require_context(load_profile("1k-8k"), small)
    assert caught.value.hint == "these fit: 1k-1k, 1k-1k-ifx, demo"
    with pytest.raises(ProfileError) as caught:
        require_context(load_profile("demo"), msgspec.structs.replace(endpoint(), context_tokens=100))
    assert "shorter" in (caught.value.hint or "")
