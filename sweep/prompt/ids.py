"""Prompts of an exact number of token ids, different from the first id on in every request of every run.

For endpoints that take ids where others take text. A prompt is a nonce and a slice of a passage's ids, as it is a nonce word and
a slice of a text in `text.py`; the nonce is written in ids of the passage, so it needs no id that the model may not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.prompt.text import NONCES, nonce_number, number

FEWEST_SIGNS = 64


@dataclass(frozen=True, slots=True)
class Passage:
    """`ids` of a text; a nonce is `places` of its different ones, `signs`."""

    ids: list[int]
    signs: list[int]
    places: int


def passage_of(ids: Sequence[int]) -> Passage | None:
    """None where a text has too few different tokens to tell prompts apart."""
    signs = sorted(set(ids))
    if len(signs) < FEWEST_SIGNS:
        return None
    places = 1
    while len(signs) ** places < NONCES:
        places += 1
    return Passage(list(ids), signs, places)


def compose_ids(passage: Passage, count: int, seed: int, request: int, nonce: str, shared: int = 0) -> list[int]:
    """A prompt of exactly `count` >= 1 ids, the nonce first, cut short where it is longer than the prompt.

    A function of its arguments alone. With `shared` < `count` the prompt begins with so many ids that all prompts of the seed
    have in common, the nonce after them.
    """
    ids = passage.ids
    common = _slice(ids, number(f"shared/{seed}") % len(ids), shared)
    first = _written(nonce_number(nonce, request), passage)[: count - shared]
    return common + first + _slice(ids, number(f"{nonce}/{seed}/{request}") % len(ids), count - shared - len(first))


def _written(value: int, passage: Passage) -> list[int]:
    """The number in the passage's signs, its fastest place first: neighbours differ at once."""
    written = []
    for _ in range(passage.places):
        value, place = divmod(value, len(passage.signs))
        written.append(passage.signs[place])
    return written


def _slice(ids: list[int], begin: int, count: int) -> list[int]:
    """`count` ids from `begin` on, beginning anew where the passage ends."""
    found = ids[begin : begin + count]
    while len(found) < count:
        found += ids[: count - len(found)]
    return found
