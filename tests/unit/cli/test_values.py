from __future__ import annotations

from pathlib import Path

import pytest

from sweep.cli import curves, lists, values
from sweep.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("1.5min", 90), ("1h", 3600), ("500ms", 0.5), (" 2 S ", 2), ("10M", 600)]
)
def test_times_have_units(text: str, seconds: float) -> None:
    assert values.seconds(text, "--cap") == seconds


@pytest.mark.parametrize("text", ["30", "", "0s", "-5s", "5 days", "inf", "1e3s"])
def test_times_without_units_are_refused_with_the_flag_and_a_hint(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--cap: ") as caught:
        values.seconds(text, "--cap")
    assert caught.value.hint == "write it with its unit: 30s, 5m, 1h"


@pytest.mark.parametrize(
    ("text", "number"), [("200000", 200_000), ("500k", 500_000), ("5M", 5_000_000), ("1.5m", 1_500_000), ("1_000", 1000)]
)
def test_token_counts(text: str, number: int) -> None:
    assert values.count(text, "--max-tokens") == number


@pytest.mark.parametrize("text", ["many", "0", "-1", "5T"])
def test_other_token_counts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--max-tokens"):
        values.count(text, "--max-tokens")


def test_a_folder_stands_for_its_only_curve(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no curve file"):
        curves.curve_file(str(tmp_path))
    one = tmp_path / "a.curve.json"
    one.touch()
    assert curves.curve_file(str(tmp_path)) == one
    assert curves.curve_file(str(one)) == one
    (tmp_path / "b.curve.json").touch()
    with pytest.raises(UsageError, match="2 curve files"):
        curves.curve_file(str(tmp_path))


def test_a_count_without_a_curve_is_told_what_is_missing() -> None:
    with pytest.raises(UsageError, match=r"^--accelerators 8: expected LABEL=COUNT$"):
        lists.accelerators(["8"], "--accelerators")
    assert lists.accelerators(["A=8", "B = 4"], "--accelerators") == {"A": 8, "B": 4}
