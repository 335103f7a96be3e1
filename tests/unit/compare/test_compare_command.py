"""`sweep compare` as people type it: documents, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from comparable import side

import sweep
from sweep.cli.main import run
from sweep.curve import artifact


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("curves")
    curves = [side("fast", output=1.2, accelerators=8), side("slow", accelerators=8)]
    return [str(artifact.save(curve, folder)) for curve in curves]


def test_the_answer_comes_first(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *files, "--at", "15,30"]) == 0
    assert capsys.readouterr().out.startswith(
        "A (fast) is better at every target: it delivers 20 % more than B per accelerator"
    )


def test_one_json_document_on_stdout(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "compare",
                *files,
                "--json",
                "--price",
                "A=3EUR",
                "--price",
                "slow=2EUR",
                "--weights",
                "15=3,30=1",
                "--max-cost",
                "1",
            ]
        )
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert [side["price_per_accelerator_hour"] for side in said["sides"]] == [3.0, 2.0]
    assert said["currency"] == "EUR"
    assert [each["label"] for each in said["demand"]] == ["A", "B"]
    assert said["within"][0]["cost_ceiling"] == 1.0


def test_powers_and_weights_of_slos(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    slo = "ttft_p99<=450ms,tpot_p99<=40ms"
    asked = ["--power", "A=700", "--power", "slow=1.4kW", "--weights", f"{slo}=2,20=1", "--json"]
    assert run(["compare", *files, *asked]) == 1  # these files hold no joint tables: no load is shown to meet the SLO
    said = json.loads(capsys.readouterr().out)
    assert [side["power_w_per_accelerator"] for side in said["sides"]] == [700, 1400]
    assert [(answer["target"]["name"], answer["target"]["weight"]) for answer in said["answers"]] == [(slo, 2), ("20", 1)]
    assert [round(demand["undecided_share"], 3) for demand in said["demand"]] == [0.667, 0.667]
    energies = [served["energy"]["power_w"] for served in said["answers"][1]["served"]]
    assert energies == [5600, 11200]


def test_markdown_page_and_pictures(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "both"
    assert run(["compare", *files, "--at", "20", "--md", "--html", str(page), "--figure", str(picture)]) == 0
    assert capsys.readouterr().out.startswith("# Comparison")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "both.svg", "both.png"}


def test_a_target_no_curve_meets_is_exit_1(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *files, "--at", "20,100000"]) == 1
    assert run(["compare", *files, "--slo", "ttft_p50<=1us"]) == 1
    capsys.readouterr()


def test_an_unfair_comparison_is_exit_4_unless_forced(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = side("other")
    other = msgspec.structs.replace(other, profile=msgspec.structs.replace(other.profile, text="code"))
    path = str(artifact.save(other, tmp_path))
    assert run(["compare", files[0], path]) == 4
    said = capsys.readouterr().err
    assert said.startswith("error: the comparison would be unfair")
    assert "text: the prompts' kind of text differs (A prose, B code)" in said
    assert "--force" in said
    assert run(["compare", files[0], path, "--force", "--at", "20"]) == 0
    assert capsys.readouterr().out.startswith("UNFAIR")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--price", "C=1"],
        ["--price", "A"],
        ["--axis", "up"],
        ["--weights", "20"],
        ["--weights", "20=1,x"],
        ["--weights", "nonsense=1"],
        ["--power", "A"],
        ["--power", "C=700"],
        ["--at", "0"],
        ["--accelerators", "A=1.5"],
        ["--accelerators", "8"],
        ["--slo", "x"],
        ["--json", "--md"],
        ["--price", "A=0"],
        ["--max-cost", "1"],
        ["--max-cost", "1", "--price", "A=2EUR", "--price", "B=3USD"],
    ],
)
def test_what_makes_no_sense_is_exit_2_with_a_hint(
    files: list[str], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *files, *arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("error: ")
    assert said[1].startswith("hint: ")


def test_a_ceiling_of_cost_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uncounted = [str(artifact.save(side(name), tmp_path)) for name in "ab"]
    asked = ["compare", *uncounted, "--max-cost", "1"]
    assert run(asked) == 2
    assert capsys.readouterr().err.startswith("error: --max-cost: no curve has a price\n")
    assert run([*asked, "--price", "A=2"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: --max-cost: nobody says how many accelerators are paid for",
        "hint: --accelerators A=8",
    ]
    assert run([*asked, "--price", "A=2EUR", "--price", "B=3USD"]) == 2
    assert "different currencies (A EUR, B USD)" in capsys.readouterr().err
    assert run([*asked, "--price", "A=2/M"]) == 0


def test_one_curve_or_a_page_in_no_folder_is_exit_2(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", files[0]]) == 2
    assert run(["compare", *files, "--html", str(tmp_path / "no" / "page.html")]) == 2
    capsys.readouterr()


def test_from_a_notebook(files: list[str]) -> None:
    compared = sweep.compare([sweep.load(file) for file in files], at=[20.0])
    assert compared.verdicts[0].call == "better"
