"""The examples that are published are read, hold, and answer questions, whatever wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sweep
from sweep.curve.check import check
from sweep.curve.parquet import read_records

EXAMPLES = Path(__file__).parents[2] / "reports" / "examples"
FILES = sorted(EXAMPLES.glob("*.curve.json"))
RECORDS = sorted(EXAMPLES.glob("*.records.parquet"))


def test_there_are_examples_of_every_kind() -> None:
    curves = {path.name.removesuffix(".curve.json"): sweep.load(path).curve for path in FILES}
    assert {"demo", "chunks", "open", "cells", "merged"} <= curves.keys()
    assert {point.joint.kind for point in curves["cells"].points} == {"cells"}
    assert curves["open"].plan.kind == "poisson"
    assert curves["merged"].hardware["accelerators"].known == "declared"
    assert curves["merged"].previous_digests
    assert any(len(read_records(path).chunk_ns) for path in RECORDS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_is_read_holds_and_answers(path: Path) -> None:
    assert check(path).problems == ()
    asked = sweep.load(path)
    assert asked.frontier().vertices
    assert asked.to_polars().height == len(asked.points)
    found = asked.pick("ttft_p50<=10s,tpot_p50<=1s")
    assert found.verdict == "met"
    assert found.best.goodput_req_per_s.value > 0
    assert found.best.goodput_tok_per_s.value > found.best.goodput_req_per_s.value


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_records_belong_to_a_curve_beside_them(path: Path) -> None:
    assert path.with_name(path.name.replace(".records.parquet", ".curve.json")) in FILES
    assert len(read_records(path)) > 0
