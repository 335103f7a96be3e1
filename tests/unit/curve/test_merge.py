"""Shards and repeats: counts, histograms and tables as if measured together; different work is refused."""

from __future__ import annotations

import msgspec
import pytest
from curve_builder import ENDPOINT, PROFILE, curve, measured, plan, records

from sweep.curve.consistent_curve import problems
from sweep.curve.merge import merge_repeats, merge_shards
from sweep.curve.shards import add
from sweep.curve.stored import histogram_of, table_of
from sweep.errors import TrustError, UsageError
from sweep.measure import jointcode
from sweep.model import Bound, Fact, Length, Slo
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
        (run("b", SHARDS[1], profile=OTHER_PROFILE), "osl: "),
        (run("b", SHARDS[1], profile=msgspec.structs.replace(PROFILE, text="code")), "text: prose and code"),
        (run("b", SHARDS[1], plan=plan(kind="poisson")), "load_kind: closed and poisson"),
        (run("b", msgspec.structs.replace(SHARDS[1], start="equilibrium")), "start: "),
        (run("b", msgspec.structs.replace(SHARDS[1], token_sources={"chunks": 5})), "token_accounting: counted and chunks"),
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


def test_a_partial_run_makes_the_whole_partial() -> None:
    merged = merge_repeats([run("a", SHARDS[0]), run("b", SHARDS[1], complete=False)])
    assert not merged.complete
    assert [finding.code for finding in merged.findings] == ["partial"]
