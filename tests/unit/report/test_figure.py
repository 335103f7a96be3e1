from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
import sample_curves

from sweep.model import Curve, Estimate
from sweep.report import figure, style
from sweep.report.marks import frontier, marks

FOREIGN = "<script>alert(1)</script> $x^2$ & co"


def texts(curve: Curve) -> list[str]:
    root = ElementTree.fromstring(figure.svg_text(curve))
    return [text for element in root.iter() if element.tag.endswith("}text") and (text := "".join(element.itertext()).strip())]


def test_the_same_curve_gives_the_same_svg(tmp_path: Path) -> None:
    for name in ("a", "b"):
        figure.save(sample_curves.curve(), tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    svg = (tmp_path / "a.svg").read_bytes()
    assert svg == (tmp_path / "b.svg").read_bytes()
    assert b"<dc:date>" not in svg
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_every_load_is_named_in_every_panel() -> None:
    shown = texts(sample_curves.curve())
    assert [shown.count("32"), shown.count("64"), shown.count("256")] == [4, 4, 4]


def test_slo_lines_are_named_even_outside_the_picture() -> None:
    shown = texts(sample_curves.curve([sample_curves.point(1, 0)]))
    assert any("A p99 TPOT ≤ 40 ms" in text for text in shown)
    assert "B E2E ≤ 60 s  →" in shown
    assert any("mlperf-llama2-70b-interactive" in text for text in shown)


def test_one_vertex_and_no_point_at_all_are_figures_too() -> None:
    assert texts(sample_curves.curve([sample_curves.point(1, 0)])).count("1") >= 4
    assert texts(sample_curves.curve([])).count("no cell was measured") == 4


def test_a_panel_without_data_says_why() -> None:
    point = msgspec.structs.replace(sample_curves.point(1, 0), metrics={"e2e_s": {"p99": Estimate(value=2.0)}})
    shown = " ".join(texts(sample_curves.curve([point])))
    assert "nothing was streamed" in shown
    assert "answers of one token" in shown


def test_disqualified_is_hollow_and_few_is_faint() -> None:
    faint, edge = style.FAINT[style.TAIL], style.TAIL
    drawn = {
        (line.get_markerfacecolor(), line.get_markeredgecolor())
        for line in figure.figure(sample_curves.curve()).axes[1].lines
        if line.get_marker() == "o"
    }
    typical = style.TYPICAL
    assert drawn == {(edge, edge), (faint, faint), (style.PAPER, edge), (typical, typical), (style.PAPER, typical)}


@pytest.mark.parametrize(("panel", "more_is_better"), [(0, True), (1, False)])
def test_the_frontier_is_what_nothing_beats(panel: int, more_is_better: bool) -> None:
    found = marks(figure.panels(sample_curves.curve().points)[panel].series[0], sample_curves.curve().points)
    able = {(mark.x, mark.y) for mark in found if not mark.point.disqualified and not mark.faint}
    sign = 1 if more_is_better else -1
    best = frontier(found, more_is_better)
    assert set(best) <= able
    for x, y in able:
        beaten = any(sign * u >= sign * x and v >= y and (u, v) != (x, y) for u, v in able)
        assert ((x, y) in best) is not beaten


def test_a_lucky_repeat_makes_no_vertex_of_its_own() -> None:
    lucky = msgspec.structs.replace(sample_curves.point(4, 1), repeat=1, rates={"output_tok_per_s": Estimate(value=400.0)})
    found = marks(figure.panels(sample_curves.curve().points)[0].series[0], [sample_curves.point(4, 0), lucky])
    ((_, y),) = frontier(found, more_is_better=True)
    assert y == pytest.approx((found[0].y + 400) / 2)


def test_foreign_text_stays_text() -> None:
    curve = sample_curves.curve()
    curve = msgspec.structs.replace(curve, endpoint=msgspec.structs.replace(curve.endpoint, model=FOREIGN))
    svg = figure.figure(curve)
    assert FOREIGN in [text.get_text() for text in svg.texts]
    svg.canvas.draw()  # type: ignore[no-untyped-call]


def test_control_characters_do_not_break_the_svg() -> None:
    curve = sample_curves.curve()
    endpoint = msgspec.structs.replace(curve.endpoint, model="a\x1b[31mb\x00")
    assert any("b" in text for text in texts(msgspec.structs.replace(curve, endpoint=endpoint)))


def test_pyplot_is_never_loaded() -> None:
    import sys

    figure.figure(sample_curves.curve())
    assert "matplotlib.pyplot" not in sys.modules
