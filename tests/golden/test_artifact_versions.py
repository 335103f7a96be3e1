"""Files of every version that was ever written are read by this one. Add a file for a new version; never change one."""

from __future__ import annotations

from pathlib import Path

from sweep.curve import artifact
from sweep.curve.check import check
from sweep.curve.pick import pick

GOLDEN = Path(__file__).with_name("curve_v1.curve.json")


def test_version_1_is_read_and_holds() -> None:
    curve = artifact.load(GOLDEN)
    assert curve.schema == "sweep.curve/1"
    assert [point.id for point in curve.points] == ["c1.0", "c2.0", "c4.0"]
    assert curve.points[0].metrics["ttft_s"]["p50"].value == 0.006636069
    assert curve.frontiers[0].axis == "output/normalised-e2e"
    assert curve.hardware["accelerators"].known == "missing"
    assert check(GOLDEN).problems == ()


def test_version_1_answers_an_slo() -> None:
    curve = artifact.load(GOLDEN)
    found = pick(curve, curve.slos[0])
    assert [load.good for load in found.loads] == [(point.slos[0].good,) * 2 for point in curve.points]
