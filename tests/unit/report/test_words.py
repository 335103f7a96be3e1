"""What the sentences claim is what the points say."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import sample_curves

from sweep.model import Curve, Estimate, Finding, Load, Point
from sweep.report import quantity, words


def with_rate(point: Point, tok_per_s: float) -> Point:
    return msgspec.structs.replace(point, rates={"output_tok_per_s": Estimate(value=tok_per_s)})


def with_verdicts(points: Sequence[Point], verdicts: Sequence[str]) -> list[Point]:
    return [
        msgspec.structs.replace(point, slos=(msgspec.structs.replace(point.slos[0], verdict=verdict),))
        for point, verdict in zip(points, verdicts, strict=True)
    ]


def three() -> list[Point]:
    return [sample_curves.point(level, index) for index, level in enumerate((1, 2, 4))]


def first(curve: Curve) -> str:
    return words.sentences(msgspec.structs.replace(curve, slos=curve.slos[:1]))[0]


def judged(*verdicts: str) -> str:
    return first(sample_curves.curve(with_verdicts(three(), verdicts)))


def test_an_slo_holds_up_to_a_load() -> None:
    name = "mlperf-llama2-70b-interactive"
    assert judged("met", "met", "missed") == f"Meets {name} up to concurrency 2; missed at concurrency 4."
    assert judged("met", "met", "met") == f"Meets {name} at every load measured, up to concurrency 4."
    assert judged("met", "undecided", "missed") == (
        f"Meets {name} up to concurrency 1; too few requests to decide at concurrency 2, missed at concurrency 4."
    )
    assert judged("undecided", "met", "missed") == (
        f"Meets {name} up to concurrency 2; below that too few requests to decide at 1, missed at concurrency 4."
    )
    assert judged("undecided", "met", "undecided") == (
        f"Meets {name} up to concurrency 2; below that too few requests to decide at 1, "
        "too few requests to decide at concurrency 4."
    )
    assert judged("undecided", "undecided", "missed") == (
        f"Meeting {name} is undecided: too few requests to decide at concurrency 1, missed at concurrency 4."
    )
    assert judged("missed", "missed", "missed").startswith(f"Does not meet {name} at the lowest load measured, concurrency 1")


def test_a_gap_is_not_jumped() -> None:
    assert "up to concurrency 1;" in judged("met", "missed", "met")


def throughput(*rates: float) -> str:
    points = [with_rate(sample_curves.point(2**index, index), rate) for index, rate in enumerate(rates)]
    return next(text for text in words.sentences(sample_curves.curve(points, slos=())) if "tok/s" in text)


def test_where_throughput_stops_rising() -> None:
    assert throughput(100, 200, 300, 305, 290) == "Throughput stops rising at concurrency 4; at most 305 output tok/s."
    assert throughput(100, 200, 300).startswith("Throughput still rises at concurrency 4")
    assert throughput(100, 101, 99).startswith("More load buys no throughput: 101 output tok/s")
    assert throughput(100) == "Delivers 100 output tok/s at concurrency 1, the only load measured."


def test_nothing_is_claimed_of_disqualified_points() -> None:
    curve = sample_curves.curve([sample_curves.point(1, 0, disqualified=True)])
    assert words.sentences(curve) == ["No point can be trusted: nothing is claimed."]
    assert words.sentences(sample_curves.curve([])) == ["No cell was measured."]


def test_an_endpoint_that_cannot_keep_up_is_no_failing_one() -> None:
    flooded = msgspec.structs.replace(
        sample_curves.point(1, 0, disqualified=True),
        load=Load(kind="poisson", level=8.0),
        cohort=100,
        outcomes={"ok": 10, "cut": 89, "timeout_idle": 1},
        findings=(Finding(code="overloaded", data={"rate": 8.0}),),
    )
    assert words.sentences(sample_curves.curve([flooded]))[0] == "The endpoint cannot keep up with 8 requests/s."
    assert quantity.failed(flooded) == 1, "what was cut because of it is ours"
    assert quantity.failed(msgspec.structs.replace(flooded, findings=())) == 90


def test_findings_are_grouped_by_kind_heaviest_first() -> None:
    notices = words.notices(sample_curves.curve())
    assert [notice.weight for notice in notices] == ["disqualifies", "note", "note"]
    assert notices[-1].lines() == ["at 64, 128: 40 requests are too few for p99"]
    assert all(notice.advice for notice in notices)


def test_a_finding_of_a_later_version_is_shown_as_stored() -> None:
    points = [sample_curves.point(1, 0, findings=[Finding(code="sunspots", data={"count": 3}), Finding(code="failures")])]
    seen = [line for notice in words.notices(sample_curves.curve(points, findings=())) for line in notice.lines()]
    assert seen == ["at 1: failures", "at 1: sunspots (count 3)"]


def test_much_of_the_same_is_folded() -> None:
    points = [sample_curves.point(n, n, findings=[Finding(code="hung", data={"count": n})]) for n in (1, 2, 4, 8)]
    (notice,) = words.notices(sample_curves.curve(points, findings=()))
    assert notice.lines(2)[-1] == "and the like at 4, 8"
    assert len(notice.lines()) == 4


def test_runs_of_a_load_are_told_apart() -> None:
    points = [
        msgspec.structs.replace(sample_curves.point(4, run), repeat=run, findings=(Finding(code="few", data={"n": n}),))
        for run, n in ((0, 1), (1, 2), (2, 2))
    ]
    (notice,) = words.notices(msgspec.structs.replace(sample_curves.curve(points), findings=()))
    assert [line.partition(":")[0] for line in notice.lines()] == ["at 4", "at 4·2, 4·3"]
