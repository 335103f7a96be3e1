"""Whatever was measured can be shown: any number or none in any place, any text from anywhere."""

from __future__ import annotations

from io import StringIO

import msgspec
import sample_curves
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from sweep.model import Curve, Estimate, Finding, Point
from sweep.report import figure, page, text, words

numbers = st.one_of(st.none(), st.just(0.0), st.floats(1e-9, 1e9))
foreign = st.text(max_size=30)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    value = draw(numbers)
    low = None if value is None else draw(st.one_of(st.none(), st.floats(0, 1).map(lambda part: value * part)))
    high = None if low is None else draw(st.one_of(st.none(), st.floats(1, 3).map(lambda part: value * part)))
    return Estimate(value=value, low=low, high=high, few=draw(st.booleans()))


@st.composite
def points(draw: st.DrawFn, index: int) -> Point:
    point = sample_curves.point(draw(st.sampled_from([1, 2, 4, 8])), index, disqualified=draw(st.booleans()))
    quantiles = st.dictionaries(st.sampled_from(["p50", "p99"]), estimates())
    found = Finding(code=draw(st.one_of(foreign, st.sampled_from(["few", "failures"]))), data={"n": draw(foreign)})
    return msgspec.structs.replace(
        point,
        id=f"p{index}",
        metrics=draw(st.dictionaries(st.sampled_from(["ttft_s", "tpot_s", "e2e_s"]), quantiles)),
        rates=draw(st.dictionaries(st.just("output_tok_per_s"), estimates())),
        findings=(found,),
        outcomes=draw(st.dictionaries(foreign, st.integers(0, 9), max_size=2)),
    )


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    made = [draw(points(index)) for index in range(draw(st.integers(0, 5)))]
    curve = sample_curves.curve(made, frontiers=())
    slos = tuple(msgspec.structs.replace(slo, name=draw(foreign)) for slo in curve.slos)
    endpoint = msgspec.structs.replace(curve.endpoint, model=draw(foreign), url=draw(foreign))
    return msgspec.structs.replace(curve, slos=slos, endpoint=endpoint)


@given(curves())
@settings(deadline=None, max_examples=40)
def test_on_the_terminal(curve: Curve) -> None:
    console = Console(file=StringIO(), width=80)
    text.show(console, curve)
    assert words.sentences(curve)


@given(curves())
@settings(deadline=None, max_examples=5)
def test_as_figure_and_page(curve: Curve) -> None:
    figure.figure(curve)
    assert page.render(curve).startswith("<!doctype html>")
