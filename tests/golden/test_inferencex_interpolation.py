"""`--interp steffen` reproduces the published iso-interactivity table of InferenceX from its published vertices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sweep.curve.interpolate import at
from sweep.model import Vertex

PUBLISHED = json.loads(Path(__file__).with_name("inferencex_gb200_b200.json").read_text())
VERTICES = {name: [Vertex(x=x, y=y, points=()) for x, y in places] for name, places in PUBLISHED["vertices"].items()}


@pytest.mark.parametrize(("interactivity", "gb200", "b200"), PUBLISHED["published"])
def test_steffen_reproduces_the_published_throughput(interactivity: float, gb200: float | None, b200: float | None) -> None:
    for name, published in (("GB200", gb200), ("B200", b200)):
        answer = at(VERTICES[name], interactivity, "steffen")
        if published is None:
            assert (answer.standing, answer.value) == ("unreachable", None)
        else:
            assert answer.value == pytest.approx(published, abs=0.501)


@pytest.mark.parametrize(("rule", "ratio"), [("steffen", 4.39), ("pchip", 3.64), ("step", 1.28)])
def test_the_headline_ratio_depends_on_the_rule_and_each_lies_in_the_bracket(rule, ratio: float) -> None:
    mine, other = at(VERTICES["GB200"], 125, rule), at(VERTICES["B200"], 125, rule)
    assert mine.value / other.value == pytest.approx(ratio, abs=0.005)
    assert mine.attained / other.ceiling == pytest.approx(0.41, abs=0.005)
    assert mine.ceiling / other.attained == pytest.approx(8.57, abs=0.005)
