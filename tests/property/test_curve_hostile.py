"""Files made by someone who signs what they like: every command that reads them answers or refuses, and never falls over."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.curve import artifact, hlog
from sweep.curve.consistent_curve import problems
from sweep.curve.merge import merge_repeats, merge_shards
from sweep.curve.notebook import CurveFile
from sweep.errors import ArtifactError, SweepError
from sweep.model import Bound, Slo

TEXT = (Path(__file__).parents[1] / "golden" / "curve_v1.curve.json").read_text()
GOLDEN = json.loads(TEXT)
SLO = Slo(name="s", bounds=(Bound(metric="ttft", limit_s=0.3, quantile=0.9), Bound(metric="e2e", limit_s=5.0)))
ODD = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1,
        2**62,
        -(2**62),
        0.0,
        -0.0,
        5e-324,
        -1e308,
        1e308,
        1e-50,
        "",
        "x",
        "2026-01-01",
        [],
        {},
        [[]],
        {"": None},
    ]
)
READERS = {
    "check": lambda curve: list(problems(curve)),
    "pick": lambda curve: CurveFile(curve).pick(SLO),
    "frontier": lambda curve: CurveFile(curve).at(1.0),
    "table": lambda curve: CurveFile(curve).to_polars(intervals=True),
    "html": lambda curve: CurveFile(curve)._repr_html_(),
    "hlog": hlog.text,
    "repeats": lambda curve: merge_repeats([curve, msgspec.structs.replace(curve, run_id="other")]),
    "shards": lambda curve: merge_shards([curve, msgspec.structs.replace(curve, run_id="other")]),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


# One metric of one point stands for its kin, so that odd values meet every kind of field.
PLACES = [
    place
    for place in places(GOLDEN)
    if place
    and place[0] != "digest"
    and (place[0] != "points" or len(place) < 4 or place[2] != "metrics" or place[3] == "ttft_s")
]


def changed(path: tuple[Any, ...], odd: Any) -> bytes:
    document = json.loads(TEXT)
    target = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = odd
    document["digest"] = artifact.digest_of(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.sampled_from(PLACES), ODD)
def test_a_reader_answers_or_refuses(reader: str, path: tuple[Any, ...], odd: Any) -> None:
    with suppress(ArtifactError):
        curve = artifact.loads(changed(path, odd))
        with suppress(SweepError):
            READERS[reader](curve)
