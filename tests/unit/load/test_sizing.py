"""How many workers a plan gets, and plans this machine has no room for."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from sweep.errors import UsageError
from sweep.load import descriptors, sizing
from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.model import Calibration, Endpoint, Plan
from sweep.plan.profile import load_profile
from sweep.plan.scenario import make_plan


def never() -> float:
    raise AssertionError("one worker is enough")


def plan(profile: str = "64/64", **asked: object) -> Plan:
    return make_plan(load_profile(profile), slos=(), seed=0, **asked)


def endpoint(ttft_s: float = 0.01, tpot_s: float = 0.001) -> Endpoint:
    known = Calibration(tokens_per_word=1, template_tokens=0, source="usage")
    return Endpoint(url="http://h/v1", model="m", dialect="chat", calibration=known, ttft_s=ttft_s, tpot_s=tpot_s)


def test_one_worker_where_one_is_surely_enough_and_as_many_as_needed_beyond() -> None:
    assert sizing.workers_for(0.0, never) == 1
    assert sizing.workers_for(sizing.ASSURED_EVENTS_PER_S, never) == 1
    several = [sizing.workers_for(pace, lambda: 40_000.0) for pace in (20_000, 40_000, 41_000, 10**9)]
    assert several == [1, 1, min(2, sizing.cores()), sizing.cores()]


def test_what_this_machine_has_no_room_for_is_refused_before_anything_is_sent() -> None:
    sizing.require_room(900, 1, 1024)
    sizing.require_room(1900, 2, 1024)
    with pytest.raises(UsageError, match="descriptors"):
        sizing.require_room(1900, 1, 1024)
    ports = descriptors.local_ports()
    if ports is not None:
        with pytest.raises(UsageError, match="local ports"):
            sizing.require_room(ports + 1, 100, None)


def test_a_plan_without_room_is_refused_by_the_fleet(fleets) -> None:
    fleet = fleets[1][1]
    fleet.fit(plan(grid=(1.0, 4.0)), endpoint())
    with pytest.raises(UsageError):
        fleet.fit(plan(grid=(60_000.0,)), endpoint())


def test_the_table_of_descriptors_is_widened_without_keeping_one() -> None:
    with Path(os.devnull).open("rb") as before:
        number = before.fileno()
    descriptors.widen_table(600)
    with Path(os.devnull).open("rb") as after:
        assert after.fileno() == number


def test_no_more_workers_than_the_highest_load_keeps_busy() -> None:
    with Fleet(target_from("127.0.0.1:9", environ={}), 30) as fleet:
        fleet.fit(plan(grid=(1.0, 4.0)), endpoint())
        assert fleet.workers == 4
        fleet.fit(plan(grid=(2.0,)), endpoint())
        assert fleet.workers == 4
        fleet.fit(plan(grid=(0.5,), kind="poisson"), endpoint())
        assert fleet.workers == 30
        assert len(fleet._workers) == 1, "none is started before there is a cell"


def test_far_more_workers_than_cores_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizing, "cores", lambda: 2)
    sizing.require_cores(32)
    with pytest.raises(UsageError, match="--workers 1,000 are too many for this machine's 2 cores") as caught:
        sizing.require_cores(1000)
    assert "without --workers" in (caught.value.hint or "")


def test_a_plan_that_one_worker_may_not_manage_is_calibrated_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calibrated: list[float] = []

    def calibrate(open_fleet: Callable[[str], Fleet]) -> float:
        calibrated.append(sizing.calibrate(open_fleet))
        return calibrated[-1]

    monkeypatch.setattr(sizing, "SECONDS", 0.1)
    monkeypatch.setattr(import_module(Fleet.__module__), "calibrate", calibrate)
    with Fleet(target_from("127.0.0.1:9", environ={}), None) as fleet:
        fleet.fit(plan(grid=(512.0,)), endpoint(ttft_s=1e-4, tpot_s=1e-6))
        assert fleet.workers == sizing.cores()
        fleet.fit(plan(grid=(256.0,)), endpoint(ttft_s=1e-4, tpot_s=1e-6))
    assert len(calibrated) == 1
