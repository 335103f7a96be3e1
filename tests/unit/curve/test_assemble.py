"""What is said of a curve as a whole."""

from __future__ import annotations

import pytest
from curve_builder import ENDPOINT, plan, point

from sweep.curve import artifact
from sweep.curve.assemble import assemble
from sweep.findings import TABLE, advice, says
from sweep.model import Curve, Finding, Plan, Point, Tool


def assembled(*points: Point, complete: bool = True, findings: tuple[Finding, ...] = (), asked: Plan | None = None) -> Curve:
    return assemble(
        points,
        name="n",
        created_at="2026-01-01T00:00:00Z",
        run_id="r",
        tool=Tool(name="sweep", version="0", python="3.11"),
        plan=asked or plan(),
        endpoint=ENDPOINT,
        client={},
        findings=findings,
        complete=complete,
    )


def codes(curve: Curve) -> list[str]:
    return [finding.code for finding in curve.findings]


def test_interrupted_before_the_first_cell_it_is_still_a_file() -> None:
    empty = assembled(complete=False)
    assert codes(empty) == ["partial"]
    assert artifact.loads(artifact.to_json(empty)).points == ()


def test_an_endpoint_that_gains_nothing_from_load_has_one_vertex() -> None:
    assert codes(assembled(point(1, output=100, latency=0.01), point(2, output=99, latency=0.02, cell=1))) == ["one-vertex"]
    assert codes(assembled(point(1))) == []


def test_one_vertex_at_a_higher_load_says_nothing_against_more_load() -> None:
    better = point(4, output=200, latency=0.01, cell=1)
    assert codes(assembled(point(2, output=100, latency=0.011), better)) == []


def test_advice_names_no_placeholder_that_a_reader_would_type() -> None:
    assert [code for code, kind in TABLE.items() if " DIR" in kind.says + kind.advice] == []


def test_why_cells_are_missing_is_said_once() -> None:
    spent = assembled(point(1, busy_s=30.0), complete=False, asked=plan(grid=(1.0, 2.0, 1.0), budget_s=20.0))
    assert codes(spent) == ["budget"]
    assert spent.findings[0].data["what"] == "2"
    assert codes(assembled(point(1), complete=False, findings=(Finding(code="token-cap"),))) == ["token-cap"]


def test_findings_of_the_endpoint_come_first() -> None:
    assert codes(assembled(findings=(Finding(code="keep-alive-off"),), complete=False)) == ["keep-alive-off", "partial"]


def drifted(factor: float, spread: float | None = 0.02, **changes) -> Curve:
    first, second = point(1, output=100, spread=0.02), point(2, cell=1, output=180, latency=0.03, spread=0.02)
    return assembled(first, second, point(1, repeat=1, cell=2, output=100 * factor, spread=spread, **changes))


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_first_cell_that_comes_out_otherwise_at_the_end_is_noticed(factor: float) -> None:
    (finding,) = drifted(factor).findings
    assert finding.data == {"what": "output throughput", "first": 100.0, "last": 100 * factor}
    assert "output throughput at the first load was 100 at the start" in says(finding)
    assert advice(finding)


@pytest.mark.parametrize(
    "same", [drifted(1.03), drifted(0.9, spread=0.2), drifted(0.5, spread=None), drifted(0.5, disqualified=True)]
)
def test_small_or_unsure_changes_and_cells_that_do_not_count_are_no_drift(same: Curve) -> None:
    assert "moved" not in codes(same)


def test_per_token_time_is_watched_too() -> None:
    assert drifted(1.0, latency=0.03).findings[0].data["what"] == "TPOT p50 in s"


def test_frontiers_are_those_of_the_points_as_stored() -> None:
    """A reader has nine digits; the vertices must be those that the reader's own arithmetic finds."""
    near = [point(1, output=100.0000000001), point(2, output=100.0)]
    assert assembled(*near).frontiers[0].vertices[0].points == ("c1.0", "c2.0")
