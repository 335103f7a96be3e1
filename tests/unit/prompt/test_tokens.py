from __future__ import annotations

import pytest

from sweep.model import Calibration
from sweep.prompt.text import KINDS, compose
from sweep.prompt.tokens import ASSUMED, calibrate, words_for


def test_two_lengths_give_slope_and_overhead() -> None:
    calibration = calibrate([(16, 38), (512, 581)])
    assert calibration.tokens_per_word == pytest.approx(543 / 496)
    assert calibration.template_tokens == pytest.approx(38 - 16 * 543 / 496)
    assert calibration.source == "usage"


@pytest.mark.parametrize("probes", [[], [(16, 38)], [(16, 38), (16, 39)], [(16, 38), (512, 38)], [(16, 38), (512, 0)]])
def test_probes_that_say_nothing_are_not_believed(probes: list[tuple[int, int]]) -> None:
    assert calibrate(probes) is ASSUMED


def test_words_are_never_fewer_than_the_nonce() -> None:
    calibration = Calibration(tokens_per_word=1.1, template_tokens=30, source="usage")
    assert words_for(1, calibration) == words_for(30, calibration) == 1
    assert words_for(1130, calibration) == 1000


def tokens(text: str) -> int:
    """A tokenizer of the common kind: known words are one token, digits come in threes, each mark and line is one, 25 of template."""
    pieces = (sum((len(part) + 2) // 3 if part.isdigit() else 1 for part in split(word)) for word in text.split())
    return 25 + sum(pieces) + text.count("\n")


def split(word: str) -> list[str]:
    parts = [""]
    for letter in word:
        if parts[-1] and letter.isalnum() == parts[-1][-1].isalnum() and letter.isalnum():
            parts[-1] += letter
        else:
            parts.append(letter)
    return parts[1:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("isl", [256, 1024, 8192])
def test_the_realised_length_is_the_asked_one(kind: str, isl: int) -> None:
    probes = [(words, tokens(compose(kind, words, 1, 10**6 + place, "probe"))) for place, words in enumerate((16, 512))]
    words = words_for(isl, calibrate(probes))
    realised = [tokens(compose(kind, words, 1, request, "run")) for request in range(40)]
    assert sum(realised) / len(realised) == pytest.approx(isl, rel=0.01 if kind != "code" else 0.02)
