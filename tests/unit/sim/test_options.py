from __future__ import annotations

import subprocess
import sys

import pytest

from sweep.errors import UsageError
from sweep.sim.faults import KINDS, parse
from sweep.sim.options import Options
from sweep.sim.tokens import chain, count


def test_four_bytes_are_a_token_and_chat_has_a_template():
    assert count(b"x" * 400, "completions") == 100
    assert count(b"x" * 401, "completions") == 101
    assert count(b"x" * 400, "chat") == 107
    assert count("é".encode() * 2, "completions") == 1


def test_a_chain_shares_what_the_texts_share():
    one, other = b"a" * 640 + b"b" * 64, b"a" * 640 + b"c" * 64
    mine, theirs = chain(one, 200), chain(other, 200)
    assert len(mine) == 11
    assert mine[:10] == theirs[:10]
    assert mine[10] != theirs[10]
    assert len(chain(one, 33)) == 2  # the last token is always computed
    assert len(set(chain(b"a" * 640, 200))) == 10  # a block is known by all before it


def test_faults_are_read_as_they_are_written():
    assert parse(["truncated=0.05", "no-usage"]).shares == {"truncated": 0.05, "no_usage": 1.0}


@pytest.mark.parametrize("spec", ["nonsense=0.1", "truncated=2", "truncated=many"])
def test_a_bad_fault_is_refused(spec):
    with pytest.raises(UsageError):
        parse([spec])


def test_every_fault_says_what_it_does():
    assert len(KINDS) == 22
    assert all(KINDS.values())


def test_arguments_say_only_what_differs():
    options = Options(preset="synthetic-70b-fp8", faults=("hung=0.1", "reset=0.2"), prefix_cache=True, noise=0.1)
    assert options.arguments() == [
        "--preset=synthetic-70b-fp8", "--fault=hung=0.1", "--fault=reset=0.2", "--prefix-cache", "--noise=0.1",
    ]  # fmt: skip


@pytest.mark.parametrize("argument", ["--preset=h100", "--fault=nonsense"])
def test_a_bad_command_line_ends_with_a_hint(argument):
    ended = subprocess.run([sys.executable, "-m", "sweep.sim", argument], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert "hint: one of:" in ended.stderr
