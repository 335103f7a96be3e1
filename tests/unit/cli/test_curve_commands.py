"""`sweep pick`, `merge`, `describe` and `check` as a stranger uses them: on files alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from sweep.cli.main import run
from sweep.curve import artifact
from sweep.curve.check import check
from sweep.model import Estimate

EXAMPLES = Path(__file__).parents[3] / "reports" / "examples"
DEMO = EXAMPLES / "demo.curve.json"
MET, MISSED = "ttft_p90<=2s,tpot_p90<=45ms", "ttft_p90<=1ms"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copy(DEMO, tmp_path / "moved.curve.json"))


def test_pick_answers_first_and_exits_by_the_answer(capsys: pytest.CaptureFixture[str], copy: Path) -> None:
    assert run(["pick", str(copy), "--slo", MET, "--axis", "interactivity"]) == 0
    lines = " ".join(capsys.readouterr().out.split())
    assert lines.startswith("Meets p90 TTFT ≤ 2 s, p90 TPOT ≤ 45 ms up to concurrency 64: ")
    assert "good tok/s" in lines
    assert "(interpolated, pchip); at concurrency 128, the next measured, it is missed." in lines
    assert "the measurements alone prove" in lines
    assert run(["pick", str(copy), "--slo", MET, "--slo", MISSED]) == 1
    assert "No measured load meets p90 TTFT ≤ 1 ms: no request keeps it." in " ".join(capsys.readouterr().out.split())


def test_pick_as_a_document_and_by_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    levels = {}
    for rule in ("pchip", "steffen", "step"):
        assert run(["pick", str(DEMO), "--slo", MET, "--interp", rule, "--json"]) == 0
        (answer,) = json.loads(capsys.readouterr().out)["picks"]
        assert answer["verdict"] == "met"
        assert answer["highest"]["good"] == [answer["highest"]["cohort"]] * 2
        levels[rule] = answer["boundary"]["level"]
    assert levels["step"] == 64 < levels["pchip"] < 128
    assert levels["steffen"] != levels["pchip"]


def test_pick_without_an_slo_asks_for_the_files_own(capsys: pytest.CaptureFixture[str]) -> None:
    run(["pick", str(DEMO), "--json"])
    asked = [answer["slo"]["name"] for answer in json.loads(capsys.readouterr().out)["picks"]]
    assert asked == [slo.name for slo in artifact.load(DEMO).slos]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--slo", "nonsense"], "unknown SLO"),
        (["--slo", MET, "--interp", "cubic"], "expected pchip, steffen or step"),
        (["--slo", MET, "--axis", "speed"], "unknown axis"),
        (["--slo", MET, "--axis", "smooth"], "bounds nothing on this axis"),
    ],
)
def test_pick_refuses_in_one_line_with_a_hint(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    assert run(["pick", str(DEMO), *arguments]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert says in error
    assert hint.startswith("hint: ")


def test_describe_writes_a_new_digest_and_keeps_the_old(capsys: pytest.CaptureFixture[str], copy: Path, tmp_path: Path) -> None:
    before = artifact.load(copy)
    toml = tmp_path / "hw.toml"
    toml.write_text('[hardware]\naccelerators = "4×A + 4×B"\n[price]\nper_accelerator_hour = 2.5\n')
    assert run(["describe", str(copy), "--describe", str(toml), "--set", "software.precision=fp8"]) == 0
    after = artifact.load(copy)
    assert after.previous_digests == (*before.previous_digests, before.digest)
    assert after.digest != before.digest
    assert after.hardware["accelerators"].value == [{"count": 4, "name": "A"}, {"count": 4, "name": "B"}]
    assert after.hardware["accelerator_count"].value == 8
    assert after.points == before.points
    assert check(copy).holds
    capsys.readouterr()
    assert run(["describe", str(copy)]) == 0
    shown = capsys.readouterr().out
    assert "4× A + 4× B" in shown
    assert str(before.digest) in shown.replace("\n", "")


def test_describe_elsewhere_leaves_the_file(copy: Path, tmp_path: Path) -> None:
    before, other = copy.read_bytes(), tmp_path / "other.curve.json"
    assert run(["describe", str(copy), "--set", "price.currency=EUR", "--out", str(other)]) == 0
    assert copy.read_bytes() == before
    assert artifact.load(other).price["currency"].value == "EUR"
    assert run(["describe", str(copy), "--set", "price.currency=EUR", "--out", str(other)]) == 2
    assert run(["describe", str(copy), "--set", "price.colour=red"]) == 2


def another_run(path: Path, folder: Path, name: str = "another", url: str | None = None) -> Path:
    """The same measurements under another run's name, and of another endpoint where one is given."""
    curve = artifact.load(path)
    endpoint = msgspec.structs.replace(curve.endpoint, url=url or curve.endpoint.url)
    return artifact.save(msgspec.structs.replace(curve, run_id=name, name=name, endpoint=endpoint), folder)


def test_merge_repeats_and_shards(tmp_path: Path) -> None:
    chunks = EXAMPLES / "chunks.curve.json"
    other = another_run(chunks, tmp_path)
    repeats, shards = tmp_path / "repeats.curve.json", tmp_path / "shards.curve.json"
    assert run(["merge", str(chunks), str(other), "--out", str(repeats)]) == 0
    live = [str(another_run(chunks, tmp_path, name, "http://127.0.0.1:8000/v1")) for name in ("one", "two")]
    assert run(["merge", *live, "--shards", "--out", str(shards)]) == 0
    one = artifact.load(chunks)
    assert artifact.load(repeats).name == "repeats"
    assert len(artifact.load(repeats).points) == 2 * len(one.points)
    added = artifact.load(shards).points
    assert [point.cohort for point in added] == [2 * point.cohort for point in one.points]
    assert [point.joint.n for point in added] == [2 * point.joint.n for point in one.points]
    assert check(repeats).problems == check(shards).problems == ()


def test_merge_refuses_shards_in_virtual_time_and_files_that_do_not_hold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Neither could be told from the merged file: fewer things must agree in it."""
    chunks, out = EXAMPLES / "chunks.curve.json", tmp_path / "x.curve.json"
    other = another_run(chunks, tmp_path)
    assert run(["merge", str(chunks), str(other), "--shards", "--out", str(out)]) == 4
    assert "virtual time" in capsys.readouterr().err
    curve = artifact.load(other)
    first = msgspec.structs.replace(curve.points[0], rates={**curve.points[0].rates, "req_per_s": Estimate(value=99.0)})
    artifact.save(msgspec.structs.replace(curve, points=(first, *curve.points[1:])), tmp_path)
    assert run(["merge", str(chunks), str(other), "--out", str(out)]) == 4
    said = capsys.readouterr().err
    assert f"{other} does not hold: point c1.0: " in said
    assert "Traceback" not in said
    assert not out.exists()


def test_merge_refuses_other_work_and_what_makes_no_sense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "x.curve.json"
    assert run(["merge", str(DEMO), str(EXAMPLES / "open.curve.json"), "--out", str(out)]) == 4
    assert "different workloads" in capsys.readouterr().err
    assert run(["merge", str(DEMO), "--out", str(out)]) == 2
    assert run(["merge", str(DEMO), str(DEMO), "--out", str(out)]) == 2
    assert run(["merge", str(DEMO), str(DEMO), "--out", str(tmp_path)]) == 2
    assert not out.exists()


def test_a_file_that_cannot_be_read_is_named_as_it_was_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Two files of one name are told apart by their folders."""
    good, bad = (tmp_path / name / "x.curve.json" for name in "ab")
    for path in (good, bad):
        path.parent.mkdir()
        shutil.copy(DEMO, path)
    bad.write_text("{}")
    assert run(["compare", str(good), str(bad)]) == 4
    assert f"error: {bad}: " in capsys.readouterr().err


def test_check_exits_with_4_and_names_what_does_not_hold(capsys: pytest.CaptureFixture[str], copy: Path) -> None:
    assert run(["check", str(copy)]) == 0
    document = json.loads(copy.read_text())
    document["points"][0]["slos"][0]["verdict"] = "missed"
    document["digest"] = artifact.digest_of(document)
    copy.write_text(json.dumps(document))
    capsys.readouterr()
    assert run(["check", str(copy)]) == 4
    captured = capsys.readouterr()
    assert "does not hold" in captured.out
    assert "which its bounds do not say" in captured.out
    assert captured.err.startswith("error: ")
