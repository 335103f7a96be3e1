"""What `sweep pick` says, beyond its numbers."""

from __future__ import annotations

from io import StringIO

import browser_pages
import msgspec
from rich.console import Console

from sweep.curve.pick import pick
from sweep.model import Curve, Estimate
from sweep.report import picked


def shown(curve: Curve) -> str:
    console = Console(file=StringIO(), width=80, color_system=None)
    picked.show(console, pick(curve, browser_pages.SLO[0]), "pchip")
    return console.file.getvalue()  # type: ignore[attr-defined]


def with_output(curve: Curve, tok_per_s: float) -> Curve:
    rates = {"output_tok_per_s": Estimate(value=tok_per_s)}
    return msgspec.structs.replace(curve, points=tuple(msgspec.structs.replace(each, rates=rates) for each in curve.points))


def test_goodput_stands_beside_output_and_more_of_it_is_explained() -> None:
    curve = browser_pages.side("a")
    assert "Goodput exceeds output" not in shown(with_output(curve, 1e6))
    said = shown(with_output(curve, 1.0))
    assert "output" in said.splitlines()[said.splitlines().index(next(line for line in said.splitlines() if "goodput" in line))]
    assert "Goodput exceeds output at 1, 2, 4, 8: it counts requests sent inside the window" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 80
