"""A self-test beside a curve: carried as it is, and its limit held against what the curve saw."""

from __future__ import annotations

import pytest
from curve_builder import curve

from sweep import findings
from sweep.curve.assemble import assemble

SELFTEST = {"schema": "sweep.selftest/1", "exact_tok_per_s": 10.0, "exact_to_the_end": False}


def with_selftest(calibration):
    built = curve()
    return assemble(
        built.points,
        name=built.name,
        created_at=built.created_at,
        run_id=built.run_id,
        tool=built.tool,
        plan=built.plan,
        endpoint=built.endpoint,
        client={},
        calibration=calibration,
    )


def noticed(calibration) -> list[str]:
    return [finding.code for finding in with_selftest(calibration).findings]


def test_more_tokens_than_the_selftest_was_exact_to_are_noticed():
    made = with_selftest(SELFTEST)
    assert made.calibration == SELFTEST
    (found,) = (finding for finding in made.findings if finding.code == "beyond-selftest")
    assert found.data["rate"] == max(point.rates["output_tok_per_s"].value for point in made.points)
    assert "exact up to 10 only" in findings.says(found)


@pytest.mark.parametrize("calibration", [None, SELFTEST | {"exact_tok_per_s": 1e9}, SELFTEST | {"exact_to_the_end": True}])
def test_without_a_limit_below_nothing_is(calibration):
    assert "beyond-selftest" not in noticed(calibration)


def test_a_selftest_that_was_never_exact_covers_nothing():
    assert "beyond-selftest" in noticed(SELFTEST | {"exact_tok_per_s": None})
