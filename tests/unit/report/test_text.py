from __future__ import annotations

from io import StringIO
from pathlib import Path

import msgspec
import pytest
import sample_curves
from rich.console import Console

from sweep.model import Curve, Estimate, Expected
from sweep.report import text
from sweep.report.foreign import harmless
from sweep.report.sketch import sketch

MARKUP = "[bold red]x[/] [link=file:///etc]y"


def shown(curve: Curve, paths: dict[str, Path] | None = None) -> str:
    console = Console(file=StringIO(), width=80, force_terminal=False, highlight=False)
    text.show(console, curve, paths)
    made = console.file
    assert isinstance(made, StringIO)
    return made.getvalue()


def test_eighty_columns_hold_it() -> None:
    out = shown(sample_curves.curve())
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out


def test_missing_is_a_dash_never_zero() -> None:
    point = msgspec.structs.replace(sample_curves.point(1, 0), metrics={}, rates={}, slos=(), outcomes={}, cohort=0)
    (row,) = [line for line in shown(sample_curves.curve([point])).splitlines() if line.startswith("   1 ")][:1]
    assert row.split() == ["1"] + ["–"] * 8


def test_what_was_refused_has_a_column_of_its_own_where_there_is_any() -> None:
    assert "refused" not in shown(sample_curves.curve())
    limited = [sample_curves.point(level, place, disqualified=True) for place, level in enumerate((1, 256))]
    outcomes = {"ok": 3_000, "connect": 600, "rate_limited": 400}
    limited[1] = msgspec.structs.replace(limited[1], outcomes=outcomes, cohort=4_000, repeat=1)
    out = shown(sample_curves.curve(limited, findings=()))
    assert max(map(len, out.splitlines())) <= 80
    first, second = (line.split() for line in out.splitlines() if line.rstrip().endswith(" ✗"))
    assert first[-4:] == ["26.3", "1.8", "0", "✗"]
    assert second[-4:] == ["107", "15.0", "10.0", "✗"]


def test_marks_are_explained_only_where_they_are_used() -> None:
    assert "✗ disqualified" in shown(sample_curves.curve())
    assert "✗ disqualified" not in shown(sample_curves.curve([sample_curves.point(1, 0)]))
    assert "~769" in shown(sample_curves.curve())


def test_markup_of_others_is_shown_as_it_is() -> None:
    curve = sample_curves.curve()
    endpoint = msgspec.structs.replace(curve.endpoint, model=MARKUP)
    profile = msgspec.structs.replace(curve.profile, name=MARKUP)
    assert (
        shown(msgspec.structs.replace(curve, endpoint=endpoint, profile=profile)).replace("\n", " ").count("[bold red]x[/]")
        == 2
    )


def test_files_are_listed_under_their_folder() -> None:
    out = shown(sample_curves.curve(), {"curve": Path("reports/a/a.curve.json"), "svg": Path("reports/a/a.svg")})
    assert out.endswith("reports/a/\n  a.curve.json\n  a.svg\n")


def test_the_plan_before_the_run() -> None:
    curve = sample_curves.curve()
    expected = Expected(cells=10, requests=12_345, input_tokens=3_400_000, output_tokens=None, seconds=1500)
    lines = text.plan_lines(msgspec.structs.replace(curve.plan, grid=(1.0, 2.0, 4.0), repeats=2), curve.endpoint, expected)
    assert lines[2] == "load       concurrency: 1, 2, 4, each 2 times"
    assert lines[3] == "about      10 cells, 12.3 k requests, 3.40 M tokens in, – out, 25 min"
    assert lines[4].startswith("SLO        mlperf-llama2-70b-interactive (p99 TTFT ≤ 450 ms")
    ids = msgspec.structs.replace(curve.endpoint.calibration, source="ids")
    exact = msgspec.structs.replace(curve.endpoint, calibration=ids)
    assert "prompts    exact: token ids" in text.plan_lines(curve.plan, exact, expected)
    assert not any("exact" in line for line in lines)


@pytest.mark.parametrize("plain", [False, True])
def test_the_sketch_has_every_load_and_the_frontier(plain: bool) -> None:
    picture = "\n".join(sketch(sample_curves.curve(), plain=plain))
    assert ("128" in picture) is True
    assert ("256" in picture) is True
    assert picture.isascii() is plain


@pytest.mark.parametrize("columns", [24, 36, 40, 63, 100])
def test_the_sketch_fits_its_window(columns: int) -> None:
    picture = sketch(sample_curves.curve(), columns=columns)
    assert all(len(line) <= columns for line in picture)
    assert bool(picture) is (columns >= 36)


def test_no_sketch_without_interactivity() -> None:
    point = msgspec.structs.replace(sample_curves.point(1, 0), metrics={"tpot_s": {"p50": Estimate(value=None)}})
    assert sketch(sample_curves.curve([point])) == []


def test_no_escape_sequence_of_others_reaches_the_terminal() -> None:
    curve = sample_curves.curve()
    evil = "a\x1b]0;title\x07\x1b[31m\u202egnp.exe\r\nerror: forged"
    endpoint = msgspec.structs.replace(curve.endpoint, model=evil, url=evil)
    slos = tuple(msgspec.structs.replace(slo, name=evil) for slo in curve.slos)
    out = shown(msgspec.structs.replace(curve, endpoint=endpoint, slos=slos))
    assert not set("\x1b\x07\r\u202e") & set(out)
    assert not any(line.startswith("error: forged") for line in out.splitlines())


def test_a_harmless_curve_is_left_as_it_is() -> None:
    curve = sample_curves.curve()
    assert harmless(curve) is curve
