"""Shards and repeats: counts, histograms and tables as if measured together; different work is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from curve_builder import ENDPOINT, PROFILE, curve, measured, plan, records

from sweep import findings
from sweep.cli import main
from sweep.curve import artifact
from sweep.curve.check import check
from sweep.curve.consistent_curve import problems
from sweep.curve.merge import merge_repeats, merge_shards
from sweep.curve.parquet import beside, read_records, write_records
from sweep.curve.setup import constraint
from sweep.curve.shards import add
from sweep.curve.simultaneous import least_cover
from sweep.curve.stored import histogram_of, table_of
from sweep.errors import TrustError, UsageError
from sweep.measure import jointcode
from sweep.model import Bound, Fact, Length, Limits, Point, Slo, Window
from sweep.records import concat

FAST = Slo(name="fast", bounds=(Bound(metric="ttft", limit_s=0.3, quantile=0.9),))
PARTS = [records(n=250, seed=seed, fail_every=every) for seed, every in ((1, 0), (2, 31), (3, 7))]
SHARDS = [measured(part, 2, slos=(FAST,)) for part in PARTS]
WHOLE = measured(concat(PARTS), 6, slos=(FAST,))


def test_shards_add_up_to_the_cell_measured_as_one() -> None:
    added = add(SHARDS)
    for exact in ("id", "load", "cohort", "outcomes", "outcomes_all", "statuses", "token_sources", "joint"):
        assert getattr(added, exact) == getattr(WHOLE, exact), exact
    for metric in added.histograms:
        assert (histogram_of(added, metric).counts == histogram_of(WHOLE, metric).counts).all()
    for metric in added.histograms:
        for name in ("mean", "min", "max", "p50", "p99"):
            assert added.metrics[metric][name].value == pytest.approx(WHOLE.metrics[metric][name].value, rel=2e-3), (
                metric,
                name,
            )
            assert added.metrics[metric][name].n == WHOLE.metrics[metric][name].n
    for rate, estimate in added.rates.items():
        assert estimate.value == pytest.approx(WHOLE.rates[rate].value, rel=1e-6), rate
        assert estimate.low < estimate.value < estimate.high
    assert added.concurrency.value == pytest.approx(WHOLE.concurrency.value)
    assert added.osl.mean == pytest.approx(WHOLE.osl.mean)
    assert (added.slos[0].good, added.slos[0].cohort) == (WHOLE.slos[0].good, WHOLE.slos[0].cohort)
    assert added.slos[0].attainment.value == pytest.approx(WHOLE.slos[0].attainment.value)
    assert added.slos[0].verdict == WHOLE.slos[0].verdict


def test_what_shards_cannot_know_is_null() -> None:
    added = add(SHARDS)
    assert (added.concurrency_peak, added.health) == (None, None)
    assert "smooth_tok_per_s" not in added.metrics


def test_adding_is_associative_and_one_part_is_itself() -> None:
    one, two, three = SHARDS
    left, right = add([add([one, two]), three]), add([one, add([two, three])])
    exact = ("id", "cohort", "outcomes", "outcomes_all", "joint", "histograms", "token_sources", "findings")
    assert all(getattr(left, name) == getattr(right, name) for name in exact)
    assert (
        left.metrics["ttft_s"]["p99"].value
        == right.metrics["ttft_s"]["p99"].value
        == add(SHARDS).metrics["ttft_s"]["p99"].value
    )
    assert add([one]) == one


def test_a_shard_without_a_table_leaves_none() -> None:
    assert add([SHARDS[0], msgspec.structs.replace(SHARDS[1], joint=None)]).joint is None


def run(name: str, *points, **changes):
    return curve(*points, run_id=name, digest=f"sha256:{name}", **changes)


def test_merged_shards_are_a_curve_that_holds() -> None:
    honest = [measured(part, 2, slos=(FAST,), honest=True) for part in PARTS]
    merged = merge_shards([run("a", honest[0], slos=(FAST,)), run("b", honest[1], slos=(FAST,))])
    assert [point.id for point in merged.points] == ["c4.0"]
    assert list(problems(merged)) == []
    assert merged.previous_digests == ("sha256:a", "sha256:b")
    assert table_of(merged.points[0]).n == sum(table_of(shard).n for shard in SHARDS[:2])
    assert jointcode.decode(merged.points[0].joint).failed == SHARDS[1].joint.failed


def test_repeats_stay_points_of_their_own() -> None:
    merged = merge_repeats([run("a", SHARDS[0]), run("b", SHARDS[1]), run("c", SHARDS[2])])
    assert [(point.id, point.cell, point.repeat) for point in merged.points] == [("c2.0", 0, 0), ("c2.1", 1, 1), ("c2.2", 2, 2)]
    assert merged.run_id == "a+b+c"
    assert merged.frontiers[0].vertices[0].points == ("c2.0", "c2.1", "c2.2")
    assert merged.scenario["order"].value == ["c2.0", "c2.1", "c2.2"]


def test_merging_repeats_is_associative() -> None:
    a, b, c = (run(name, shard) for name, shard in zip("abc", SHARDS, strict=True))
    left, right = merge_repeats([merge_repeats([a, b]), c]), merge_repeats([a, merge_repeats([b, c])])
    assert left == right == merge_repeats([a, b, c])


def test_one_run_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="run a is given twice"):
        merge_repeats([run("a", SHARDS[0]), run("a", SHARDS[0])])


OTHER_PROFILE = msgspec.structs.replace(PROFILE, osl=Length(mean=1024))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (run("b", SHARDS[1], profile=OTHER_PROFILE), r"osl: .* \(mean 8192 and mean 1024\)"),
        (
            run("b", SHARDS[1], profile=msgspec.structs.replace(PROFILE, text="code")),
            r"text: the prompts' kind of text differs \(prose and code\)",
        ),
        (run("b", SHARDS[1], plan=plan(kind="poisson")), r"load_kind: .* \(closed and poisson\)"),
        (run("b", msgspec.structs.replace(SHARDS[1], start="equilibrium")), "start: "),
        (
            run("b", msgspec.structs.replace(SHARDS[1], token_sources={"chunks": 5})),
            r"token_accounting: .* \(counted and chunks\)",
        ),
        (
            run("b", msgspec.structs.replace(SHARDS[1], osl=msgspec.structs.replace(SHARDS[1].osl, mean=30.0))),
            "realised_osl_mean: ",
        ),
        (run("b", SHARDS[1], endpoint=msgspec.structs.replace(ENDPOINT, model="other")), "model: "),
        (run("b", SHARDS[1], software={"version": Fact(value="0.12", known="read")}), "version differs: 0.11 and 0.12"),
    ],
)
def test_different_work_is_refused_by_name(other, said: str) -> None:
    with pytest.raises(TrustError, match=said) as caught:
        merge_repeats([run("a", SHARDS[0]), other])
    assert caught.value.exit_code == 4


def test_shards_of_different_cells_are_refused() -> None:
    with pytest.raises(UsageError, match="same cells"):
        merge_shards([run("a", SHARDS[0]), run("b", msgspec.structs.replace(SHARDS[1], cell=5))])


@pytest.mark.parametrize("merge", [merge_repeats, merge_shards])
def test_one_run_is_not_two(merge) -> None:
    """As shards it would be twice as fast as it was."""
    with pytest.raises(UsageError, match="given twice"):
        merge([run("a", SHARDS[0]), run("a", SHARDS[0])])


def at(started_at: str, window_s: float, *, began_at: str | None = None, busy_s: float = 34.0) -> Point:
    """A shard that came under load then, for 34 s; its window lasted so long."""
    window = Window(begin_ns=10**9, end_ns=round((1 + window_s) * 1e9), begin_reason="", end_reason="", began_at=began_at)
    return msgspec.structs.replace(SHARDS[0], started_at=f"2026-01-01T00:{started_at}Z", busy_s=busy_s, window=window)


@pytest.mark.parametrize(
    ("first", "second", "cover"),
    [
        (at("00:00", 30), at("00:00", 30), 1.0),
        (at("00:00", 30), at("00:17", 30), 0.5),
        (at("00:00", 30), at("01:00", 30), 0.0),
        (
            at("00:00", 30, began_at="2026-01-01T00:00:02.500+00:00"),
            at("00:02", 30, began_at="2026-01-01T00:00:05+00:00"),
            29 / 30,
        ),
        (at("00:00", 10, began_at="2026-01-01T09:00:20+09:00"), at("00:10", 10, began_at="2026-01-01T00:00:15Z"), 1.0),
        (at("00:00", 30, began_at="yesterday"), at("00:17", 30), 0.5),
    ],
)
def test_windows_lie_within_the_others_load(first: Point, second: Point, cover: float) -> None:
    assert least_cover([first, second]) == pytest.approx(cover)
    assert least_cover([second, first]) == pytest.approx(cover)
    assert least_cover([first, second, first]) == pytest.approx(cover)


def test_shards_without_a_clock_prove_nothing() -> None:
    silent = msgspec.structs.replace(SHARDS[0], busy_s=None)
    assert least_cover([SHARDS[0], silent]) is None
    assert least_cover([SHARDS[0], msgspec.structs.replace(SHARDS[0], started_at="?")]) is None
    (point,) = merge_shards([run("a", SHARDS[0]), run("b", silent)]).points
    assert [findings.says(each) for each in point.findings if each.code == "shards-apart"] == [
        "the shards of this cell were not surely under load at the same time"
    ]


def test_shards_of_different_times_are_refused_or_say_so() -> None:
    first = at("00:00", 30)
    with pytest.raises(TrustError, match=r"c4 were not measured at the same time: .* 0% lay within") as caught:
        merge_shards([run("a", first), run("b", at("01:00", 30))])
    assert "--shards" in caught.value.hint
    (point,) = merge_shards([run("a", first), run("b", at("00:10", 30))]).points
    (apart,) = (each for each in point.findings if each.code == "shards-apart")
    assert findings.says(apart).endswith("of one's window 71% lay within another's time under load")
    assert not point.disqualified
    (whole,) = merge_shards([run("a", first), run("b", at("00:01", 30))]).points
    assert "shards-apart" not in {each.code for each in whole.findings}


def test_records_of_repeats_are_found_under_their_new_numbers(tmp_path: Path) -> None:
    """So that the merged file is recomputed from them as each was."""
    runs = []
    for name, seed in (("a", 1), ("b", 2)):
        own = concat([records(cell=0, n=300, seed=seed), records(cell=1, n=300, seed=seed + 10)])
        points = [measured(own.where(own["cell"] == cell), 2.0 * (cell + 1), slos=(FAST,), honest=True) for cell in (0, 1)]
        path = artifact.save(msgspec.structs.replace(run(name, *points, slos=(FAST,)), name=name), tmp_path)
        write_records(beside(path), own, keep_chunks=True)
        runs.append(str(path))
    out = tmp_path / "both.curve.json"
    assert main.run(["merge", *runs, "--out", str(out)]) == 0
    checked = check(out)
    assert (checked.problems, checked.not_verifiable) == ((), ())
    kept = read_records(beside(out))
    assert sorted(set(zip(kept["cell"].tolist(), kept["repeat"].tolist(), strict=True))) == [(0, 0), (1, 0), (2, 1), (3, 1)]
    beside(tmp_path / "b.curve.json").unlink()
    assert main.run(["merge", *runs, "--out", str(tmp_path / "alone.curve.json")]) == 0
    assert not beside(tmp_path / "alone.curve.json").exists()


def test_a_partial_run_makes_the_whole_partial() -> None:
    merged = merge_repeats([run("a", SHARDS[0]), run("b", SHARDS[1], complete=False)])
    assert not merged.complete
    assert [finding.code for finding in merged.findings] == ["partial"]


def test_a_merged_curve_names_the_slos_that_all_were_judged_by(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    slow = Slo(name="slow", bounds=(Bound(metric="e2e", limit_s=9.0),))
    paths = []
    for name, slos in (("a", (FAST, slow)), ("b", (slow,)), ("c", (slow, FAST))):
        own = measured(PARTS[0], 2, slos=slos, honest=True)
        bounded = plan(slos=slos, limits=Limits(slos=slos))
        made = run(name, own, slos=slos, plan=bounded, constraint=constraint(bounded))
        paths.append(artifact.save(msgspec.structs.replace(made, name=name), tmp_path))
    for first, second, names in (("a", "b", ["slow"]), ("b", "a", ["slow"]), ("a", "c", ["fast", "slow"])):
        merged = merge_repeats([artifact.load(tmp_path / f"{name}.curve.json") for name in (first, second)])
        assert list(problems(merged)) == []
        assert [slo.name for slo in merged.slos] == [slo.name for slo in merged.plan.limits.slos] == names
        assert [[result.slo for result in point.slos] for point in merged.points] == [names, names]
    out = str(tmp_path / "ab.curve.json")
    assert main.run(["merge", str(paths[0]), str(paths[1]), "--out", out]) == 0
    assert "not all files were judged by fast: ask with" in capsys.readouterr().out
