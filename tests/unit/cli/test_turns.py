"""Endpoints that take turns: the order of their cells, what is left when one stops, and whose secret goes where."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from sweep.cli.main import run
from sweep.cli.turns import taking_turns
from sweep.curve import artifact
from sweep.errors import EndpointError, Interrupted, UsageError
from sweep.run import Settings, in_turns


def cells(name: str, count: int, said: list[str], ends: type[BaseException] | None = None) -> Generator[None, None, Any]:
    """A sweep that, after its first cell, ends by `ends`; ended from outside it says how, and raises what can be resumed."""
    try:
        for place in range(count):
            if place == 1 and ends is not None:
                raise EndpointError("gone", f"resume {name}") if ends is EndpointError else ends()
            said.append(f"{name}{place}")
            yield
    except (KeyboardInterrupt, EndpointError) as stopped:
        said.append(f"{name} ended by {type(stopped).__name__}")
        raise (
            Interrupted("interrupted", f"resume {name}")
            if isinstance(stopped, KeyboardInterrupt)
            else EndpointError(stopped.message, f"resume {name}")
        ) from None
    return name


def test_cells_alternate_and_the_order_turns_every_round() -> None:
    said: list[str] = []
    assert in_turns([cells("a", 4, said), cells("b", 3, said)]) == ["a", "b"]
    assert said == ["a0", "b0", "b1", "a1", "a2", "b2", "a3"]


def test_when_one_endpoint_is_gone_the_others_write_what_they_have_and_all_can_be_resumed() -> None:
    said: list[str] = []
    with pytest.raises(EndpointError, match="gone") as caught:
        in_turns([cells("a", 4, said), cells("b", 3, said, ends=EndpointError), cells("c", 3, said)])
    assert said == ["a0", "b0", "c0", "c1", "b ended by EndpointError", "a ended by EndpointError", "c ended by EndpointError"]
    assert caught.value.hint == "resume b; resume a; resume c"


def test_ctrl_c_ends_all_of_them() -> None:
    said: list[str] = []
    with pytest.raises(Interrupted) as caught:
        in_turns([cells("a", 4, said), cells("b", 3, said, ends=KeyboardInterrupt)])
    assert said == ["a0", "b0", "b ended by KeyboardInterrupt", "a ended by KeyboardInterrupt"]
    assert caught.value.hint == "resume b; resume a"


def test_whose_turn_it_is_is_announced() -> None:
    turns: list[int] = []
    in_turns([cells("a", 2, []), cells("b", 2, [])], turns.append)
    assert turns == [0, 1, 1, 0, 0, 1]


def test_a_secret_goes_to_its_own_endpoint_only() -> None:
    settings = Settings(endpoint="", headers=("A=Authorization: Bearer a", "B=X-Key: b"), model="A=one,B=two")
    a, b = taking_turns(settings, ["https://one.example/v1", "https://two.example/v1"])
    assert (a.headers, b.headers) == (("Authorization: Bearer a",), ("X-Key: b",))
    assert (a.model, b.model) == ("one", "two")
    assert not a.keys_from_environment
    with pytest.raises(UsageError, match="which endpoint"):
        taking_turns(Settings(endpoint="", headers=("Authorization: x",)), ["https://one.example", "https://two.example"])


@pytest.mark.usefixtures("undrawn")
def test_the_files_say_that_they_were_interleaved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = ["--profile", "64/16", "--grid", "1,2", "--duration", "1s", "--name", "ab", "--out", str(tmp_path)]
    assert (
        run(["run", "--endpoint", "sim", "--endpoint", "sim:synthetic-120b-moe", "--interleave", "--virtual", "--yes", *once])
        == 0
    )
    curves = [artifact.load(tmp_path / f"ab-{place}" / f"ab-{place}.curve.json") for place in "AB"]
    facts = [curve.scenario["interleaved"].value for curve in curves]
    assert facts[0]["group"] == facts[1]["group"]
    assert [fact["place"] for fact in facts] == ["A", "B"]
    capsys.readouterr()


@pytest.mark.parametrize("arguments", [["--endpoint", "sim", "--endpoint", "sim"], ["--endpoint", "sim", "--interleave"]])
def test_endpoints_and_wish_must_fit(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "--virtual", *arguments]) == 2
    assert "interleave" in capsys.readouterr().err
