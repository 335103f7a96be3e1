"""A canary beside the cells: when it is asked, and what is said of it however the cells end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sweep.model import Finding
from sweep.run import canary
from sweep.run.canary import accompanied


def telling(*answers: str) -> Callable[[], list[str | None]]:
    """Answers to three prompts by letter, round by round; `.` is none. The last round is repeated."""
    left = list(answers)
    return lambda: [None if letter == "." else letter for letter in (left.pop(0) if len(left) > 1 else left[0])]


def codes(found: list[Finding]) -> list[str]:
    return [each.code for each in found]


def test_asked_before_between_and_after() -> None:
    found: list[Finding] = []
    assert list(accompanied(iter("abc"), telling("xyz"), found)) == ["a", "b", "c"]
    assert codes(found) == ["canary-same"]
    assert found[0].data == {"asked": 3, "rounds": 4}


@pytest.mark.parametrize("slow", [-1.0, None])
def test_who_is_slow_or_silent_is_asked_at_the_ends_only(slow: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if slow is not None:
        monkeypatch.setattr(canary, "BETWEEN_S", slow)
    found: list[Finding] = []
    list(accompanied(iter("abc"), telling("xy.", "xyz") if slow is None else telling("xyz"), found))
    assert found[0].data == {"asked": 2 if slow is None else 3, "rounds": 2}


def test_who_never_answers_proves_nothing() -> None:
    found: list[Finding] = []
    assert list(accompanied(iter("ab"), telling("..."), found)) == ["a", "b"]
    assert codes(found) == ["canary-unread"]


def test_interrupted_cells_are_told_of_as_far_as_they_went() -> None:
    def cells() -> Iterator[int]:
        yield 1
        yield 2
        raise KeyboardInterrupt

    found: list[Finding] = []
    with pytest.raises(KeyboardInterrupt):
        list(accompanied(cells(), telling("abc", "abc", "xbc"), found))
    assert codes(found) == ["canary-changed"]
    assert found[0].data["cell"] == 2
