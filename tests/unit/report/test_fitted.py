"""Tables in narrow windows: columns go, digits never."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from sweep.report.fitted import Fitted


def table() -> Fitted:
    made = Fitted(("rare",), padding=2)
    for head in ("load", "output\ntok/s", "rare", "often", ""):
        made.add_column(head, justify="right")
    made.add_row("128", "1,234", "5678", Text("9,012"), "✗")
    made.caption = Text("✗ disqualified")
    return made


def shown(width: int) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(table())
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("width", "left_out"),
    [(80, None), (24, None), (23, "rare"), (19, "rare"), (18, "rare, often"), (12, "output tok/s, rare, often")],
)
def test_columns_that_do_not_fit_are_left_out_and_named(width: int, left_out: str | None) -> None:
    lines = " ".join(" ".join(shown(width)).split())
    assert "…" not in lines
    named = lines.partition("a wider window shows ")[2]
    assert named == (f"{left_out} too" if left_out else "")


def test_columns_stand_closer_before_one_goes() -> None:
    assert shown(40)[3].split() == shown(26)[3].split() == ["128", "1,234", "5678", "9,012", "✗"]
    assert len(shown(26)[3]) <= 26 < len(shown(40)[3])


def test_marks_and_the_caption_stay() -> None:
    assert shown(19)[3].endswith("✗")
    assert "✗ disqualified" in shown(19)
