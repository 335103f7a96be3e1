"""What the answers to a canary's prompts say together, from their hashes."""

from __future__ import annotations

import pytest

from sweep.findings import says
from sweep.measure.canary import Round, findings, hashed, heard, is_garbage


def rounds(*answers: str, garbage: tuple[int, ...] = ()) -> list[Round]:
    """One round a text, whose letters are the three prompts' answers; `.` is none, `e` has no text."""
    made = []
    for after, letters in enumerate(answers):
        hashes = tuple({".": None, "e": hashed("")}.get(letter, letter) for letter in letters)
        made.append(Round(after, hashes, garbage[after] if garbage else 0))
    return made


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ([], []),
        (["abc"], []),
        (["...", "abc"], []),
        (["abc", "..."], []),
        (["...", "..."], ["canary-unread"]),
        (["eee", "eee"], ["canary-unread"]),
        (["e.e", "...", "eee"], ["canary-unread"]),
        (["eee", "abc"], []),
        (["abe", "abe"], ["canary-same"]),
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


def test_what_is_heard_is_kept_as_hashes_that_differ_when_the_text_does() -> None:
    one, other = heard(0, ["a b", "!!!!!!!!", None]), heard(1, ["a c", "!!!!!!!!", None])
    assert (one.garbage, one.hashes[2], other.after) == (1, None, 1)
    assert one.hashes[1] == other.hashes[1]
    assert one.hashes[0] != other.hashes[0]
    assert "a b" not in str(one)
