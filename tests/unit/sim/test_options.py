from __future__ import annotations

import pytest

from sweep.errors import UsageError
from sweep.prompt.text import KINDS as KINDS_OF_TEXT
from sweep.prompt.text import compose
from sweep.prompt.tokens import calibrate, words_for
from sweep.sim.faults import KINDS, parse
from sweep.sim.options import Options
from sweep.sim.tokens import chain, count


def test_a_word_is_a_token_a_long_one_several_and_chat_has_a_template():
    assert count(b"time and  again,\nalways.", "completions") == 4
    assert count(b"time and again", "chat") == 10
    assert count(b"x" * 33 + b" y", "completions") == 4
    assert count(b"", "completions") == 1


@pytest.mark.parametrize("kind", KINDS_OF_TEXT)
def test_prompts_have_the_length_asked_for(kind):
    probes = [(words, count(compose(kind, words, 0, n, "probe").encode(), "chat")) for n, words in enumerate((24, 280))]
    calibration = calibrate(probes)
    for request, isl in enumerate((16, 410, 512, 8192)):
        prompt = compose(kind, words_for(isl, calibration), 0, request, "run")
        assert abs(count(prompt.encode(), "chat") - isl) <= 0.01 * isl


def test_a_chain_shares_what_the_texts_share():
    one, other = b"a " * 160 + b"b " * 16, b"a " * 160 + b"c " * 16
    mine, theirs = chain(one, 200), chain(other, 200)
    assert len(mine) == 11
    assert mine[:10] == theirs[:10]
    assert mine[10] != theirs[10]
    assert len(chain(one, 33)) == 2  # the last token is always computed
    assert len(chain(b"a " * 32, 32)) == 1
    assert len(set(chain(b"a " * 160, 200))) == 10  # a block is known by all before it
    assert chain(b"ab c " * 16, 64)[0] != chain(b"a bc " * 16, 64)[0]


def test_faults_are_read_as_they_are_written():
    assert parse(["truncated=0.05", "no-usage"]).shares == {"truncated": 0.05, "no_usage": 1.0}


@pytest.mark.parametrize("spec", ["nonsense=0.1", "truncated=2", "truncated=many"])
def test_a_bad_fault_is_refused(spec):
    with pytest.raises(UsageError):
        parse([spec])


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 70_000},
        {"time_scale": 0.0},
        {"acceptance": 1.5},
        {"noise": float("nan")},
        {"stream_interval": 0},
        {"reasoning": -1},
    ],
)
def test_a_number_that_cannot_be_is_refused_with_its_bounds(wrong):
    with pytest.raises(UsageError, match=f"--{next(iter(wrong)).replace('_', '-')}") as refused:
        Options(**wrong).check()
    assert "give at least" in refused.value.hint


def test_the_defaults_can_be():
    Options().check()


def test_every_fault_says_what_it_does():
    assert len(KINDS) == 22
    assert all(KINDS.values())
