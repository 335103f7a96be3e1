"""A user's own prompts and lengths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sweep.errors import UsageError
from sweep.model import Length
from sweep.prompt import dataset
from sweep.prompt.text import compose

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


def test_prompts_of_every_usual_shape() -> None:
    assert list(dataset.texts(json.dumps(SHAREGPT))) == ["first question of all", "second question"]
    lines = "\n".join(map(json.dumps, LINES)) + "\nno JSON\n\n"
    assert list(dataset.texts(lines)) == ["one two three", "four five", "six"]
    assert list(dataset.texts('{"prompt": "alone"}')) == ["alone"]
    assert [list(dataset.texts(each)) for each in ("", "[]", "3", "{}")] == [[]] * 4


def test_prompts_are_cut_from_the_file_and_still_unique(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": f"word{n} " * 9}) for n in range(50)))
    kind = dataset.offer(str(path)).kind
    assert kind is not None
    assert kind.startswith("dataset:mine:")
    prompts = [compose(kind, 40, 0, request, "run") for request in range(20)]
    assert all(len(prompt.split()) == 40 for prompt in prompts)
    assert len({prompt.split()[0] for prompt in prompts}) == 20
    assert all(word.startswith("word") for word in prompts[0].split()[1:])
    assert len(compose(kind, 5_000, 0, 1, "run").split()) == 5_000
    path.with_name("other.jsonl").write_text(path.read_text() + "\n")
    assert dataset.offer(str(path.with_name("other.jsonl"))).kind != kind


def test_lengths_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n0,100,10\n1,300,10\n\n2,200,10\n")
    told = dataset.offer(str(path))
    assert (told.kind, told.isl, told.osl) == (None, Length(mean=200, sd=82, min=100, max=300), Length(mean=10))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.jsonl", "", "no prompt"),
        ("empty.csv", "", "no columns"),
        ("head.csv", "isl,osl\n", "no lengths"),
        ("bad.csv", "isl,osl\n5,-1\n", "line 2: '-1' is no length"),
        ("short.csv", "isl,osl\n5\n", "line 2: '' is no length"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=says) as error:
        dataset.offer(str(tmp_path / name))
    assert error.value.hint
    with pytest.raises(UsageError, match="No such file"):
        dataset.offer(str(tmp_path / "absent"))
