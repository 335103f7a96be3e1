"""A user's own prompts and lengths."""

from __future__ import annotations

import json

import pytest

from sweep.errors import UsageError
from sweep.model import Length
from sweep.prompt import dataset, text
from sweep.prompt.dataset import column, parse

SHAREGPT = [
    {"id": "a", "conversations": [{"from": "human", "value": "first question of all"}, {"from": "gpt", "value": "no"}]},
    {"id": "b", "conversations": [{"from": "system", "value": "no"}, {"from": "human", "value": "second question"}]},
    {"id": "c", "conversations": []},
]
LINES = [
    {"prompt": "one two three"},
    {"messages": [{"role": "system", "content": "no"}, {"role": "user", "content": "four five"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "six"}]}]},
    {"nothing": 1},
]


def prompts(content: str) -> list[str]:
    return list(dataset.prompts(dataset.entries(content)))


def as_lines(entries: list[object]) -> bytes:
    return "\n".join(map(json.dumps, entries)).encode()


def test_prompts_of_every_usual_shape() -> None:
    assert prompts(json.dumps(SHAREGPT)) == ["first question of all", "second question"]
    assert prompts(as_lines(LINES).decode() + "\nno JSON\n\n") == ["one two three", "four five", "six"]
    assert prompts('{"prompt": "alone"}') == ["alone"]
    assert [prompts(each) for each in ("", "[]", "3", "{}")] == [[]] * 4


def test_prompts_are_cut_from_the_file_and_still_unique() -> None:
    data = as_lines([{"prompt": f"word{n} " * 9} for n in range(50)])
    found = parse("mine.jsonl", data).material
    assert found is not None
    assert found.kind.startswith("dataset:mine:")
    assert parse("mine.jsonl", data + b"\n").material.kind != found.kind
    text.offer(found.kind, found.pieces)
    made = [text.compose(found.kind, 40, 0, request, "run") for request in range(20)]
    assert all(len(prompt.split()) == 40 for prompt in made)
    assert len({prompt.split()[0] for prompt in made}) == 20
    assert all(word.startswith("word") for word in made[0].split()[1:])
    assert len(text.compose(found.kind, 5_000, 0, 1, "run").split()) == 5_000


def test_no_more_texts_are_kept_than_are_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "MAX_WORDS", 100)
    assert len(parse("mine.jsonl", as_lines([{"prompt": "word " * 9}] * 50)).material.pieces) == 12


def test_lengths_of_a_table_stay_in_pairs() -> None:
    found = parse("trace.csv", b"TIMESTAMP,ContextTokens,GeneratedTokens\n0,100,10\n1,300,30\n\n2,200,10\n")
    assert (found.material, list(found.rows)) == (None, [(100, 10), (300, 30), (200, 10)])


def test_lengths_beside_or_without_prompts() -> None:
    """Mooncake's traces hold lengths alone; a line that tells only one of them has none."""
    told = [
        {"timestamp": 0, "input_length": 700, "output_length": 50, "hash_ids": [1]},
        {"input_length": 5},
        {"prompt_tokens": 3, "completion_tokens": "4"},
    ]
    found = parse("mooncake.jsonl", as_lines(told))
    assert (found.material, list(found.rows)) == (None, [(700, 50)])
    both = parse("mine.jsonl", as_lines([{"prompt": "a b", "isl": 2, "osl": 9}, {"prompt": "c"}]))
    assert both.material is not None
    assert (both.material.pieces, list(both.rows)) == (("a b", "c"), [(2, 9)])


def test_answers_are_as_long_as_a_tokenizer_counts_them() -> None:
    entries = [*SHAREGPT, {"prompt": "p q", "completion": "r s t"}, {"question": "x", "answer": "y z"}, {"prompt": "only"}]
    data = as_lines([*entries, {"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "v w"}]}])
    assert list(parse("mine.jsonl", data, lambda text: len(text.split())).rows) == [(4, 1), (2, 3), (1, 2), (1, 2)]
    assert list(parse("mine.jsonl", data).rows) == []


@pytest.mark.parametrize(
    ("tokens", "length"),
    [
        ([100, 300, 200], Length(mean=200, sd=82, min=100, max=300)),
        ([10, 10], Length(mean=10)),
        ([1000, *[1] * 9_999_9], Length(mean=1, sd=3, min=1, max=1000)),
        ([*[7] * 9_999, 8], Length(mean=7, sd=1, min=7, max=8)),
    ],
)
def test_what_a_column_is_like(tokens: list[int], length: Length) -> None:
    assert column(tokens) == length


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.jsonl", b"", "no prompt"),
        ("latin.jsonl", b"\xff", "not UTF-8"),
        ("empty.csv", b"", "no columns"),
        ("head.csv", b"isl,osl\n", "no lengths"),
        ("bad.csv", b"isl,osl\n5,-1\n", "line 2: '-1' is no length"),
        ("short.csv", b"isl,osl\n5\n", "line 2: '' is no length"),
        ("huge.csv", b"isl,osl\n5," + b"9" * 5_000 + b"\n", "line 2: .* is no length"),
    ],
)
def test_files_that_cannot_be_used(name: str, content: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        parse(name, content)
    assert name in error.value.message
    assert error.value.hint
