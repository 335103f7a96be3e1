from __future__ import annotations

import json
from contextlib import suppress
from io import StringIO

import msgspec
import pytest
import sample_curves

from sweep.cli import screen
from sweep.cli.screen import is_expensive, watching
from sweep.model import Endpoint, Expected

HERE = sample_curves.curve().endpoint
THERE = msgspec.structs.replace(HERE, url="https://api.example.com/v1", loopback=False)
CHEAP = Expected(cells=4, requests=100, input_tokens=1000, output_tokens=1000, seconds=60)


@pytest.mark.parametrize(
    ("endpoint", "expected", "asked"),
    [
        (THERE, CHEAP, False),
        (THERE, msgspec.structs.replace(CHEAP, seconds=601), True),
        (THERE, msgspec.structs.replace(CHEAP, input_tokens=3_000_000, output_tokens=2_000_001), True),
        (THERE, msgspec.structs.replace(CHEAP, seconds=None), True),
        (HERE, msgspec.structs.replace(CHEAP, seconds=99_999), False),
    ],
)
def test_what_is_worth_a_question(endpoint: Endpoint, expected: Expected, asked: bool) -> None:
    assert is_expensive(endpoint, expected) is asked


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("YES\n", True), ("\n", False), ("n\n", False), ("", False)])
def test_the_question_on_a_terminal(answer: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "_on_a_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", StringIO(answer))
    plan, dear = sample_curves.curve().plan, msgspec.structs.replace(CHEAP, seconds=3600)
    with watching(json=False, yes=False) as watch:
        assert watch.planned(plan, THERE, dear) is goes_on
    with watching(json=False, yes=True) as watch:
        assert watch.planned(plan, THERE, dear) is True


def test_without_a_terminal_nothing_is_asked() -> None:
    with watching(json=False, yes=False) as watch:
        assert watch.planned(sample_curves.curve().plan, THERE, msgspec.structs.replace(CHEAP, seconds=3600))


@pytest.mark.parametrize("curves", [1, 2])
def test_json_is_one_document_even_when_the_run_fails(curves: int, capsys: pytest.CaptureFixture[str]) -> None:
    curve = sample_curves.curve()
    with suppress(RuntimeError), watching(json=True, yes=True) as watch:
        for _ in range(curves):
            watch.curve_done(curve, {})
        raise RuntimeError
    document = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in (document if curves > 1 else [document])] == [curve.name] * curves
