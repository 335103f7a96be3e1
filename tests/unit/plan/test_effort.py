"""Efforts as gates."""

from __future__ import annotations

import pytest

from sweep.model import Limits
from sweep.plan.effort import STRETCH, demanding, requests_wanted
from sweep.plan.slo import parse

P99 = parse("ttft_p99<=450ms")


def test_tails_are_gated_only_when_asked_for() -> None:
    standard, rigorous = (demanding(Limits(), effort, (), False) for effort in ("standard", "rigorous"))
    assert [gate.label for gate in standard.gates] == ["throughput", "TPOT p50", "TTFT p50"]
    assert [gate.width for gate in standard.gates] == [0.03, 0.03, 0.10]
    assert [gate.label for gate in rigorous.gates][3:] == ["TPOT p99", "TTFT p99"]
    assert (standard.stretch, rigorous.stretch) == (STRETCH, None)
    assert demanding(Limits(), "standard", (), True).stretch is None


def test_percentiles_of_slos_are_decided_whole_cohorts_are_not() -> None:
    assert demanding(Limits(), "standard", P99 + parse("e2e<=10s"), False).slos == P99
    assert demanding(Limits(), "quick", P99, False) == Limits()


def test_a_demanded_duration_is_kept() -> None:
    assert demanding(Limits(duration_s=3.0), "rigorous", P99, False) == Limits(duration_s=3.0)


@pytest.mark.parametrize(("effort", "slos", "wanted"), [("quick", (), 0), ("standard", (), 8), ("standard", P99, 5000)])
def test_how_many_requests_that_takes(effort, slos, wanted) -> None:
    assert requests_wanted(demanding(Limits(), effort, slos, False)) == wanted
