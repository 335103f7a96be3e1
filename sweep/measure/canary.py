"""What the answers of a canary say: prompts asked again and again of the idle endpoint, before, between and after the cells.

Answers are kept as hashes, never as text, and are compared, never scored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sweep.model import Finding

FEW_SIGNS = 2  # different signs in a long answer: what a model of broken numbers says
SHORT = 6
NO_TEXT = hashlib.sha256(b"").hexdigest()[:16]  # what an answer without any is hashed to


@dataclass(frozen=True, slots=True)
class Round:
    """What every prompt was answered: the answer's hash, None where none came; `garbage` counts those that are no text."""

    after: int  # cells; 0: before the first
    hashes: tuple[str | None, ...]
    garbage: int


def heard(after: int, answers: Sequence[str | None]) -> Round:
    """The round asked after so many cells."""
    garbage = sum(is_garbage(answer) for answer in answers if answer is not None)
    return Round(after, tuple(None if answer is None else hashed(answer) for answer in answers), garbage)


def findings(rounds: Sequence[Round]) -> Iterator[Finding]:
    """What the answers of all rounds together say. Nothing where the first round or every later one was not answered.

    A prompt that first brought no text cannot be compared; where none ever brought any, that is said.
    """
    if len(rounds) > 1 and all(told in (None, NO_TEXT) for one in rounds for told in one.hashes):
        yield Finding(code="canary-unread", data={"asked": len(rounds[0].hashes)})
    prompts = len(rounds[0].hashes) if rounds else 0
    answers = [each for place in range(prompts) if len(each := _answers_to(place, rounds)) > 1]
    if not answers:
        return
    spoilt = next((one for one in rounds if one.garbage > rounds[0].garbage), None)
    if spoilt is not None:
        yield Finding(code="canary-garbage", data={"count": spoilt.garbage, "asked": len(answers), "cell": spoilt.after})
    changed = [each for each in answers if len({told for _, told in each}) > 1]
    if not changed:
        yield Finding(code="canary-same", data={"asked": len(answers), "rounds": len(rounds)})
    elif all(len(steps(each)) == 1 for each in changed):
        first = min(steps(each)[0] for each in changed)
        yield Finding(code="canary-changed", data={"count": len(changed), "asked": len(answers), "cell": first})
    else:
        yield Finding(code="canary-varies", data={"count": len(changed), "asked": len(answers)})


def _answers_to(place: int, rounds: Sequence[Round]) -> list[tuple[int, str]]:
    """(cells before it, hash) of a prompt's answers; none where it had no text before the first cell."""
    if rounds[0].hashes[place] in (None, NO_TEXT):
        return []
    return [(one.after, told) for one in rounds if (told := one.hashes[place]) is not None]


def steps(answers: Sequence[tuple[int, str]]) -> list[int]:
    """After which cells an answer was another than the one before."""
    return [after for (_, before), (after, now) in pairwise(answers) if now != before]


def is_garbage(answer: str) -> bool:
    """No text at all, signs that stand for what cannot be read, or the same one or two signs over and over."""
    signs = answer.strip()
    unreadable = sum(sign == "\ufffd" or (not sign.isprintable() and not sign.isspace()) for sign in signs)
    few = len(signs) >= SHORT and len(set(signs) - {" "}) <= FEW_SIGNS
    return not signs or few or 5 * unreadable > len(signs)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
