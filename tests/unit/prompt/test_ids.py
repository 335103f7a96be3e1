"""Prompts of token ids: exact, unique from the first id, the passage's own, and with a common beginning where that is asked."""

from __future__ import annotations

from itertools import pairwise
from time import thread_time

import pytest

from sweep.prompt.ids import Passage, compose_ids, passage_of
from sweep.prompt.text import KINDS, PASSAGE_WORDS, offer
from sweep.prompt.text import passage as text_of

VOCABULARY = 1000
BLOCK = 16  # tokens of a prefix cache's block, in the servers there are


@pytest.fixture(scope="module")
def passage() -> Passage:
    made = passage_of([(7 * place * place + 3) % VOCABULARY for place in range(30_000)])
    assert made is not None
    return made


@pytest.mark.parametrize("count", [1, 2, 5, 1024, 29_999, 70_000])
def test_a_prompt_has_exactly_as_many_ids_as_asked_all_of_the_passage(passage: Passage, count: int) -> None:
    ids = compose_ids(passage, count, 0, 7, "run")
    assert len(ids) == count
    assert set(ids) <= set(passage.ids)
    assert ids == compose_ids(passage, count, 0, 7, "run")


def test_behind_the_nonce_stands_a_stretch_of_the_passage(passage: Passage) -> None:
    body = compose_ids(passage, 100, 0, 7, "run")[passage.places :]
    twice = passage.ids * 2
    assert any(twice[begin : begin + len(body)] == body for begin in range(len(passage.ids)))


def test_no_two_prompts_share_a_block(passage: Passage) -> None:
    seen = {tuple(compose_ids(passage, BLOCK, 0, request, nonce)) for nonce in ("a", "b") for request in range(5000)}
    assert len(seen) == 10_000


def test_neighbours_differ_in_their_first_id(passage: Passage) -> None:
    first = [compose_ids(passage, 64, 0, request, "run")[0] for request in range(100)]
    assert all(here != there for here, there in pairwise(first))


def test_nonces_are_written_apart_with_any_number_of_signs() -> None:
    for signs in (64, 65, 997):
        made = passage_of(range(signs))
        assert made is not None
        nonces = {tuple(compose_ids(made, made.places, 0, request, "run")) for request in range(3000)}
        assert len(nonces) == 3000


def test_a_share_is_common_to_all_prompts_of_a_seed_and_the_nonce_comes_after_it(passage: Passage) -> None:
    one, other = (compose_ids(passage, 200, 3, request, "run", 150) for request in (1, 2))
    assert one[:150] == other[:150]
    assert one[150] != other[150]
    assert len(one) == 200
    assert compose_ids(passage, 200, 4, 1, "run", 150)[:150] != one[:150]
    assert len(compose_ids(passage, 20, 3, 1, "run", 19)) == 20


def test_too_few_different_tokens_tell_nothing_apart() -> None:
    assert passage_of([1, 2, 3] * 1000) is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_built_in_kind_is_a_passage(kind: str) -> None:
    assert len(text_of(kind).split()) > 30_000


def test_a_passage_of_much_material_is_from_all_over_it() -> None:
    offer("dataset:much", [" ".join(f"w{piece}.{word}" for word in range(1_000)) for piece in range(200)])
    words = text_of("dataset:much").split()
    assert words == [f"w{piece}.{word}" for piece in range(0, 200, 4) for word in range(1_000)]
    offer("dataset:long", [" ".join(str(word) for word in range(200_000))])
    assert text_of("dataset:long").split() == [str(word) for word in range(PASSAGE_WORDS)]


def test_composing_costs_no_more_than_copying(passage: Passage) -> None:
    began_s = thread_time()
    for request in range(100):
        compose_ids(passage, 8192, 0, request, "run")
    assert (thread_time() - began_s) / 100 < 1e-3
