from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import UsageError
from sweep.prompt import words
from sweep.prompt.ask import compose_ask
from sweep.prompt.text import KINDS, compose


@given(st.sampled_from(KINDS), st.integers(1, 3000), st.integers(-(2**63), 2**63), st.integers(0, 2**31), st.text(max_size=20))
def test_exactly_the_words_asked_for(kind: str, count: int, seed: int, request: int, nonce: str) -> None:
    prompt = compose(kind, count, seed, request, nonce)
    assert len(prompt.split()) == count
    assert prompt == compose(kind, count, seed, request, nonce)
    assert len(prompt.split()[0]) == 12
    assert prompt.split()[0].isdigit()


@pytest.mark.parametrize("kind", KINDS)
def test_longer_than_the_material(kind: str) -> None:
    assert len(compose(kind, 100_001, 0, 3, "run").split()) == 100_001


def test_no_two_prompts_begin_alike() -> None:
    """Neither within a run nor between runs, and neighbours differ at the first digits already."""
    firsts = [compose("prose", 1, 7, request, nonce) for nonce in ("one", "two", "three") for request in range(20_000)]
    assert len(set(firsts)) == len(firsts)
    assert all(a[:3] != b[:3] for a, b in pairwise(firsts[:20_000]))


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_differ_too(kind: str) -> None:
    bodies = {compose(kind, 50, 7, request, "run")[13:] for request in range(100)}
    assert len(bodies) > 75


@pytest.mark.parametrize("kind", KINDS)
def test_a_shared_prefix_is_shared_and_nothing_after_it(kind: str) -> None:
    one, two = (compose(kind, 100, 0, request, "run", 60).split() for request in (1, 2))
    assert len(one) == len(two) == 100
    assert one[:60] == two[:60]
    assert one[60] != two[60]
    assert compose(kind, 100, 0, 1, "another run", 60).split()[:60] == one[:60]
    assert compose(kind, 100, 1, 1, "run", 60).split()[:60] != one[:60]


def test_a_request_shares_what_its_profile_says() -> None:
    asks = [
        compose_ask("prose", None, model="m", words=words, osl=1, fields=(), seed=0, request=1, nonce="n", prefix_share=0.99)
        for words in (1, 2, 100)
    ]
    assert [len(ask.prompt.split()) for ask in asks] == [1, 2, 100]
    assert all(any(word.isdigit() for word in ask.prompt.split()) for ask in asks), "never without its nonce"


def test_kinds_look_like_what_they_are() -> None:
    prose, code, random = (compose(kind, 400, 1, 1, "run")[13:] for kind in ("prose", "code", "random"))
    assert prose[0].isupper()
    assert 25 < prose.count(". ") < 50
    assert "    return" in code
    assert set(random.split()) <= set(words.EVERY)


def test_code_is_code() -> None:
    body = compose("code", 5000, 1, 1, "run").partition("\n")[2]
    whole = body[: body.rindex("\n\n")]
    compile(whole, "prompt", "exec")


def test_the_word_table_is_large_and_short() -> None:
    assert len(words.EVERY) >= 600
    assert sum(map(len, words.EVERY)) / len(words.EVERY) < 6.5


def test_an_unknown_kind_names_the_known() -> None:
    with pytest.raises(UsageError, match="unknown text kind 'poems'") as caught:
        compose("poems", 5, 0, 0, "")
    assert caught.value.hint == "known: prose, code, random"
