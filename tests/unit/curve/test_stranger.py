"""A real sweep in virtual time, its file carried elsewhere: new SLOs are answered as the records would, and no lie passes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sweep.curve import artifact
from sweep.curve.check import check
from sweep.curve.judged import judged
from sweep.curve.parquet import read_records
from sweep.curve.pick import pick
from sweep.measure.goodput import within
from sweep.model import Bound, Curve, Expected, Load, Slo
from sweep.run import Settings, run

KNOWN = "ttft_p90<=600ms,tpot_p90<=50ms"


class Silent:
    """Nobody watches."""

    def planned(self, plan: Any, endpoint: Any, expected: Expected) -> bool:
        return True

    def cell_started(self, cell: Any) -> None: ...
    def live(self, cell: Any, live: Any) -> None: ...
    def cell_done(self, point: Any) -> None: ...
    def curve_done(self, curve: Any, paths: Any) -> None: ...


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loads around the knee of the simulated endpoint; what the sweep left, moved away from where it was written."""
    made, moved = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("moved") / "elsewhere"
    settings = Settings(
        endpoint="sim:synthetic-70b-fp8",
        profiles=("chat",),
        slos=(KNOWN,),
        grid="4,16,64,128",
        requests=200,
        start="cold",
        out=made,
        name="run",
        virtual=True,
    )
    run(settings, Silent())
    shutil.move(made / "run", moved)
    return moved


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    return folder / "run.curve.json"


@pytest.fixture(scope="module")
def curve(path: Path) -> Curve:
    return artifact.load(path)


def test_the_file_holds_with_its_records_and_alone(path: Path, tmp_path: Path) -> None:
    assert check(path).problems == ()
    shutil.copy(path, tmp_path / path.name)
    assert check(tmp_path / path.name).problems == ()


def random_slo(draw: np.random.Generator, measured: dict[str, np.ndarray]) -> Slo:
    """One to three bounds, each inside its distribution."""
    names = draw.permutation(list(measured))[: draw.integers(1, 4)]
    limits = {name: np.quantile(measured[name], draw.uniform(0.02, 0.98)) for name in names}
    quantiles = {name: [None, 0.5, 0.9, 0.99][draw.integers(4)] for name in names}
    return Slo(name="s", bounds=tuple(Bound(metric=n, limit_s=round(limits[n], 6), quantile=quantiles[n]) for n in names))


def test_fifty_random_slos_are_answered_as_by_the_records(folder: Path, curve: Curve) -> None:
    records, draw, split = read_records(folder / "run.records.parquet"), np.random.default_rng(7), 0
    for turn in range(50):
        point = curve.points[turn % len(curve.points)]
        cohort = records.where((records["cell"] == point.cell) & (records["phase"] == "measured"))
        ok = cohort.where(cohort["outcome"] == "ok")
        measured = {
            "ttft": (ok["first_ns"] - ok["sent_ns"]) / 1e9,
            "tpot": (ok["last_ns"] - ok["first_ns"]) / (ok["osl"] - 1) / 1e9,
            "e2e": (ok["last_ns"] - ok["sent_ns"]) / 1e9,
        }
        slo = random_slo(draw, measured)
        good = np.logical_and.reduce([within(cohort, bound, "sent_ns") for bound in slo.bounds])
        tokens = int(cohort["osl"][good].sum())
        found = judged(point.load.level, [point], slo)
        assert (found.good, found.good_tokens) == ((good.sum(),) * 2, (tokens,) * 2)
        if good.any():
            assert found.goodput_req_per_s.value == pytest.approx(good.sum() / point.window.seconds)
            assert found.goodput_tok_per_s.value == pytest.approx(tokens / point.window.seconds)
        split += 0 < good.sum() < len(cohort)
    assert split > 40  # the bounds really divide the requests


def test_an_slo_known_during_the_run_gets_the_runs_own_counts(curve: Curve) -> None:
    found = {load.level: load for load in pick(curve, curve.slos[0]).loads}
    for point in curve.points:
        if not point.disqualified:
            assert found[point.load.level].good == (point.slos[0].good,) * 2
            assert found[point.load.level].load == Load(kind="closed", level=point.load.level)


def first(document: dict[str, Any]) -> dict[str, Any]:
    return document["points"][0]


def faster(point: dict[str, Any], metric: str) -> None:
    for one in point["metrics"][metric].values():
        for key in ("value", "low", "high"):
            one[key] = None if one[key] is None else one[key] * 0.8


def set_in(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *inner, last = path.split(".")
        for key in inner:
            document = document[int(key)] if isinstance(document, list) else document[key]
        document[last] = value

    return change


def scaled(path: str, factor: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *inner, last = path.split(".")
        for key in inner:
            document = document[int(key)] if isinstance(document, list) else document[key]
        document[last] *= factor

    return change


def drop_point(document: dict[str, Any]) -> None:
    del document["points"][2]


def swap_tables(document: dict[str, Any]) -> None:
    document["points"][0]["joint"], document["points"][1]["joint"] = (document["points"][i]["joint"] for i in (1, 0))


def swap_histograms(document: dict[str, Any]) -> None:
    """The percentiles go with them."""
    one, two = document["points"][0], document["points"][1]
    for part in ("histograms", "metrics"):
        one[part]["ttft_s"], two[part]["ttft_s"] = two[part]["ttft_s"], one[part]["ttft_s"]


def invent_requests(document: dict[str, Any]) -> None:
    first(document)["outcomes"]["ok"] += 5
    first(document)["cohort"] += 5


def better_everywhere(document: dict[str, Any]) -> None:
    for point in document["points"]:
        faster(point, "ttft_s")


# What is done to the file, with a fresh digest each time, and a word of what is said about it. No records lie beside it.
LIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "latencies made better": (better_everywhere, "ttft_s"),
    "an interval made narrower": (scaled("points.1.metrics.ttft_s.p90.n_eff", 0.1), "the interval of ttft_s p90"),
    "throughput made higher": (scaled("points.0.rates.output_tok_per_s.value", 2.0), "output_tok_per_s"),
    "requests made more": (scaled("points.0.rates.req_per_s.value", 3.0), "req_per_s"),
    "a table of another load": (swap_tables, "joint table"),
    "histograms of another load": (swap_histograms, "not of the same requests"),
    "requests invented": (invent_requests, "for a cohort of"),
    "more good requests": (scaled("points.2.slos.0.good", 3), "requests meet"),
    "a verdict turned": (set_in("points.2.slos.0.verdict", "met"), "which its bounds do not say"),
    "a bound's verdict turned": (set_in("points.2.slos.0.bounds.1.verdict", "met"), "which its share's interval does not say"),
    "a window made shorter": (scaled("points.0.window.end_ns", 0.5), "in"),
    "goodput made higher": (scaled("points.0.slos.0.goodput_req_per_s.value", 1.5), "goodput under"),
    "token goodput made higher": (scaled("points.0.slos.0.goodput_tok_per_s.value", 1.5), "token goodput under"),
    "an inconvenient load dropped": (drop_point, "one is missing"),
    "a point kept out of the frontier": (set_in("points.1.disqualified", True), "no finding says why"),
    "another load claimed": (set_in("points.1.load.level", 32.0), "its id is not that of"),
    "a frontier vertex moved": (scaled("frontiers.0.vertices.0.y", 1.1), "is not that of the points"),
    "hardware measured by nobody": (
        set_in("hardware.accelerators", {"value": [{"count": 8, "name": "H200"}], "known": "measured"}),
        "nothing measured it",
    ),
    "a version read from nowhere": (
        set_in("software.version", {"value": "9.9", "known": "read"}),
        "the endpoint does not say so",
    ),
    "other lengths": (set_in("scenario.isl", {"value": {"n": 1, "mean": 1024.0}, "known": "measured"}), "scenario.isl"),
    "another plan": (set_in("plan.limits.requests", 5000), "constraint.requests"),
    "another workload": (set_in("profile.isl.mean", 1024), "not those of the plan"),
    "longer answers": (scaled("points.0.osl.mean", 2.0), "output tokens"),
    "fewer in flight": (scaled("points.0.concurrency.value", 0.5), "concurrency"),
}


def tampered(path: Path, folder: Path, lie: str, *, sign: bool = True) -> Path:
    document = json.loads(path.read_text())
    LIES[lie][0](document)
    if sign:
        document["digest"] = artifact.digest_of(document)
    changed = folder / path.name
    changed.write_text(json.dumps(document))
    return changed


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes_although_it_is_signed_and_no_records_are_there(path: Path, tmp_path: Path, lie: str) -> None:
    checked = check(tampered(path, tmp_path, lie))
    assert any(LIES[lie][1] in problem for problem in checked.problems), checked.problems


def test_unsigned_it_is_the_digest_that_tells(path: Path, tmp_path: Path) -> None:
    for lie in LIES:
        (problem,) = check(tampered(path, tmp_path, lie, sign=False)).problems
        assert "digest" in problem


def test_with_its_records_even_a_consistent_forgery_is_found(folder: Path, path: Path, tmp_path: Path) -> None:
    """A whole point replaced by a better one of the same sweep."""
    document = json.loads(path.read_text())
    kept = {key: first(document)[key] for key in ("id", "cell", "load", "repeat")}
    document["points"][0] = document["points"][1] | kept
    document["digest"] = artifact.digest_of(document)
    shutil.copy(folder / "run.records.parquet", tmp_path)
    (tmp_path / path.name).write_text(json.dumps(document))
    assert any("by the records" in problem for problem in check(tmp_path / path.name).problems)
