"""Fixed prompts before, between and after the cells: what the answers' hashes say together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sweep.findings import says
from sweep.load import canary
from sweep.load.canary import Canary, Round, findings, is_garbage
from sweep.load.client import target_from
from sweep.load.preflight import probe
from sweep.model import Finding
from sweep.sim.server import start


def rounds(*answers: str | None, garbage: tuple[int, ...] = ()) -> list[Round]:
    """One round a text, whose letters are the three prompts' answers; `.` is none."""
    made = []
    for after, letters in enumerate(answers):
        hashes = tuple(None if letter == "." else letter for letter in letters)
        made.append(Round(after, hashes, garbage[after] if garbage else 0, 0.1))
    return made


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ([], []),
        (["abc"], []),
        (["...", "abc"], []),
        (["abc", "..."], []),
        (["abc", "abc", "abc"], ["canary-same"]),
        (["abc", "...", "abc"], ["canary-same"]),
        (["a..", "abc", "axy"], ["canary-same"]),
        (["abc", "abc", "xbc"], ["canary-changed"]),
        (["abc", "xbc", "xyc", "xyc"], ["canary-changed"]),
        (["abc", "xbc", "abc"], ["canary-varies"]),
        (["abc", "xbc", "ybc"], ["canary-varies"]),
    ],
)
def test_answers_alike_changed_or_changing(asked: list[str], codes: list[str]) -> None:
    found = list(findings(rounds(*asked)))
    assert [each.code for each in found] == codes
    assert all(says(each) for each in found)


def test_a_change_is_dated() -> None:
    (changed,) = findings(rounds("abc", "abc", "xyc", "xyc"))
    assert changed.data == {"count": 2, "asked": 3, "cell": 2}


def test_garbage_counts_only_where_there_was_text_before() -> None:
    assert "canary-garbage" in [each.code for each in findings(rounds("abc", "abx", "abc", garbage=(0, 1, 0)))]
    assert [each.code for each in findings(rounds("abc", "abc", garbage=(2, 2)))] == ["canary-same"]


@pytest.mark.parametrize("text", ["", "  ", "!!!!!!!!", "ab\ufffd\ufffd\ufffd", "\x00\x01\x02", "!?!?!?!?"])
def test_garbage(text: str) -> None:
    assert is_garbage(text)


@pytest.mark.parametrize("text", ["one two three", "42", "tok tok tok", "Paris, Tokyo, Cairo", "中文也是文字", "No"])
def test_text(text: str) -> None:
    assert not is_garbage(text)


def test_a_sweep_is_accompanied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary, "BETWEEN_S", 60.0)
    with start("synthetic-8b-bf16") as served:
        target = target_from(served.url, environ={})
        bird = canary.canary(target, probe(target, "chat"), "run")
        assert bird is not None
        found: list[Finding] = []
        assert list(bird.between(iter("abc"), found)) == ["a", "b", "c"]
        assert [each.after for each in bird.rounds] == [0, 1, 2, 3]
        assert [each.code for each in found] == ["canary-same"]
        monkeypatch.setattr(canary, "BETWEEN_S", 0.0)
        slow = Canary(target, bird.endpoint, "run")
        list(slow.between(iter("abc"), []))
        assert [each.after for each in slow.rounds] == [0, 3], "a slow endpoint is asked at the ends only"
    gone = Canary(target, bird.endpoint, "run")
    lost: list[Finding] = []
    assert list(gone.between(iter("ab"), lost)) == ["a", "b"]
    assert lost == []


def test_an_interrupted_sweep_says_what_was_seen_until_then() -> None:
    def cells() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    class Quiet(Canary):
        def ask(self, after: int) -> None:
            self.rounds += rounds("abc")[:1] if not after else [Round(after, ("x", "b", "c"), 0, 0.0)]

    target = target_from("http://127.0.0.1:9", environ={})
    found: list[Finding] = []
    bird = Quiet(target, None, "run")  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        list(bird.between(cells(), found))
    assert [each.code for each in found] == ["canary-changed"]


def test_only_dialects_with_text_are_asked() -> None:
    with start("synthetic-8b-bf16") as served:
        target = target_from(served.url, environ={})
        assert canary.canary(target, probe(target, "embeddings"), "run") is None
