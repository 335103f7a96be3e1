"""A file that lies is found out, and each lie is named."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest
from curve_builder import curve, measured, records

from sweep.curve import artifact
from sweep.curve.check import check, summary
from sweep.curve.parquet import write_records
from sweep.model import Bound, Estimate, Fact, Finding, JointTable, Slo
from sweep.records import concat

FAST = Slo(
    name="fast", bounds=(Bound(metric="ttft", limit_s=0.3, quantile=0.9), Bound(metric="tpot", limit_s=0.02)), source=None
)
RECORDS = concat([records(cell=0, n=300, seed=1, fail_every=37), records(cell=1, n=300, seed=2)])
CURVE = curve(
    measured(RECORDS.where(RECORDS["cell"] == 0), 2, slos=(FAST,), honest=True),
    measured(RECORDS.where(RECORDS["cell"] == 1), 4, slos=(FAST,), honest=True),
    slos=(FAST,),
)


def written(folder: Path, changed=CURVE, *, beside: bool = True, keep_chunks: bool = False) -> Path:
    path = artifact.save(changed, folder)
    if beside:
        write_records(folder / f"{changed.name}.records.parquet", RECORDS, keep_chunks=keep_chunks)
    return path


def with_point(**changes):
    return curve(msgspec.structs.replace(CURVE.points[0], **changes), CURVE.points[1], slos=(FAST,))


def test_an_honest_file_holds_and_says_what_could_not_be_verified(tmp_path: Path) -> None:
    checked = check(written(tmp_path))
    assert checked.problems == ()
    assert checked.verified[-1] == "records"
    assert "no chunk times kept" in checked.not_verifiable[0]


def test_with_chunk_times_everything_is_recomputed(tmp_path: Path) -> None:
    checked = check(written(tmp_path, keep_chunks=True))
    assert (checked.problems, checked.not_verifiable) == ((), ())


def test_without_records_the_file_is_checked_by_itself(tmp_path: Path) -> None:
    checked = check(written(tmp_path, beside=False))
    assert checked.holds
    assert checked.not_verifiable[0].startswith("records (no ")


def metric(name: str, statistic: str, value: float) -> dict[str, dict[str, Estimate]]:
    metrics = CURVE.points[0].metrics
    changed = msgspec.structs.replace(metrics[name][statistic], value=value)
    return {**metrics, name: {**metrics[name], statistic: changed}}


def with_fact(section: str, key: str, value):
    facts = {**getattr(CURVE, section), key: Fact(value=value, known="declared")}
    return msgspec.structs.replace(CURVE, **{section: facts})


def with_few(name: str, statistic: str):
    metrics = CURVE.points[0].metrics
    return with_point(metrics={**metrics, name: {**metrics[name], statistic: Estimate(value=None, n=300)}})


LIES = {
    "a count of machines": (with_fact("hardware", "accelerator_count", -8), "accelerator_count: expected a number from 0"),
    "no machine": (with_fact("hardware", "accelerator_count", 0), "accelerator_count: expected a whole number from 1, got 0"),
    "a price": (with_fact("price", "per_accelerator_hour", -5.0), "$.price.per_accelerator_hour: expected a number from 0"),
    "a day": (msgspec.structs.replace(CURVE, created_at="yesterday"), "created_at is no time"),
    "a point's day": (with_point(started_at="yesterday"), "point c2.0: started_at is no time"),
    "a tail of few": (with_few("ttft_s", "p99"), "ttft_s p99 is of 300 samples, which are too few, and does not say so"),
    "outcomes": (with_point(outcomes={"ok": 1}), "1 outcomes for a cohort of 300"),
    "cohort": (with_point(cohort=299, outcomes={"ok": 299}), "the joint table holds 300 requests for a cohort of 299"),
    "a percentile": (with_point(metrics=metric("ttft_s", "p99", 0.1)), "ttft_s p99 is 0.1, by its histogram"),
    "goodput": (
        with_point(slos=(msgspec.structs.replace(CURVE.points[0].slos[0], good=300),)),
        "300 requests meet fast, by the joint",
    ),
    "a frontier": (
        msgspec.structs.replace(CURVE, frontiers=(msgspec.structs.replace(CURVE.frontiers[0], dropped=()),)),
        "the frontier output/normalised-e2e is not that of the points",
    ),
    "a point that counts": (with_point(findings=(Finding(code="drifting-or-so"),)), "not known to this version"),
    "an id": (curve(CURVE.points[0], CURVE.points[0], slos=(FAST,)), "share an id"),
    "throughput, against the records": (
        with_point(rates={**CURVE.points[0].rates, "req_per_s": Estimate(value=99.0)}),
        "rates.req_per_s.value is 99.0, by the records",
    ),
    "lengths, against the records": (
        with_point(osl=msgspec.structs.replace(CURVE.points[0].osl, mean=99.0)),
        "osl.mean is 99.0, by the records",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_each_lie_is_named(tmp_path: Path, lie: str) -> None:
    changed, said = LIES[lie]
    checked = check(written(tmp_path, changed))
    assert not checked.holds
    assert any(said in problem for problem in checked.problems), checked.problems
    assert all("\n" not in line for line in summary(checked))


def test_nothing_is_called_verified_that_a_problem_is_about(tmp_path: Path) -> None:
    """Of the file's own parts all or none: what contradicts what is not known."""
    parts = {"counts", "joint tables", "histograms", "SLOs", "frontiers", "facts"}
    alone = check(written(tmp_path, LIES["a frontier"][0], beside=False))
    assert alone.verified == ("schema", "digest")
    whole = check(written(tmp_path))
    assert {*whole.verified} == {"schema", "digest", "records", *parts}
    against = check(written(tmp_path, LIES["lengths, against the records"][0]))
    assert "records" not in against.verified
    other = with_point(cohort=299, outcomes={"ok": 299})
    assert check(written(tmp_path, other)).verified == ("schema", "digest")


def test_a_changed_byte_is_a_wrong_digest(tmp_path: Path) -> None:
    path = written(tmp_path)
    document = json.loads(path.read_text())
    document["points"][0]["cohort"] += 1
    path.write_text(json.dumps(document))
    assert "digest" in check(path).problems[0]


BOMB = base64.b64encode(zlib.compress(bytes(256 << 20), 9)).decode()


@pytest.mark.parametrize(
    "bomb",
    [
        {"joint": JointTable(kind="columns", n=1, failed=0, data=BOMB)},
        {"joint": JointTable(kind="cells", n=1, failed=0, data=BOMB)},
        {"histograms": {"ttft_s": BOMB}},
        {"histograms": {"ttft_s": "<b>"}},
    ],
)
def test_a_bomb_is_a_problem_not_a_crash(tmp_path: Path, bomb) -> None:
    checked = check(written(tmp_path, with_point(**bomb), beside=False))
    assert any(problem.startswith("point c2.0") for problem in checked.problems)


def test_damaged_records_are_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / f"{CURVE.name}.records.parquet").write_bytes(b"PAR1")
    assert "not readable as records" in check(path).problems[0]


def test_records_of_another_run_do_not_pass(tmp_path: Path) -> None:
    path = written(tmp_path)
    other = RECORDS.replace(first_ns=RECORDS["first_ns"] + np.where(RECORDS.present("first_ns"), 5_000_000, 0))
    write_records(tmp_path / f"{CURVE.name}.records.parquet", other)
    assert any("metrics.ttft_s.p50.value" in problem for problem in check(path).problems)
