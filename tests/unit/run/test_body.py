"""Fields of the user's own: what is read, what is refused, where a dialect puts them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from sweep import dialect
from sweep.dialect import multipart
from sweep.errors import UsageError
from sweep.model import Ask
from sweep.run.body import read, require_free


def test_an_object_or_the_file_that_holds_it(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"top_p": 0.9}')
    assert read(' {"temperature": 0.7}') == {"temperature": 0.7}
    assert read(str(tmp_path / "body.json")) == {"top_p": 0.9}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("[1]", "not an object"),
        ('{"a":', "not JSON"),
        ('{"a": NaN}', "not JSON"),
        ("[" * 9999, "not JSON"),
        ("gone.json", "No such file"),
    ],
)
def test_what_is_no_object_is_said_to_be_none(given: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read(given)


@pytest.mark.parametrize(
    ("name", "extra", "taken"),
    [
        ("chat", {"n": 2, "temperature": 1}, "n is"),
        ("chat", {"model": "m", "messages": []}, "model, messages are"),
        ("chat", {"max_completion_tokens": 9}, "max_completion_tokens is"),
        ("chat", {"stream_options": {"include_usage": False}}, "stream_options.include_usage is"),
        ("chat", {"stream_options": None}, "stream_options is"),
        ("chat", {"model": {"of": "mine"}}, "model.of is"),
        ("completions", {"prompt": "p"}, "prompt is"),
        ("sglang", {"sampling_params": {"max_new_tokens": 9}}, "sampling_params.max_new_tokens is"),
        ("sglang", {"input_ids": [1]}, "input_ids is"),
        ("transcription", {"file": "f"}, "file is"),
    ],
)
def test_what_sweep_sets_is_refused(name: str, extra: dict[str, object], taken: str) -> None:
    with pytest.raises(UsageError) as refused:
        require_free(dialect.get(name), extra)
    assert refused.value.message == f"--body: {taken} sweep's own to set"


@pytest.mark.parametrize("name", dialect.names())
def test_every_dialect_sends_them_beside_its_own(name: str) -> None:
    spoken = dialect.get(name)
    extra = {"temperature": 0.5, "chat_template_kwargs": {"enable_thinking": False}, "tools": [{"type": "function"}]}
    require_free(spoken, extra)
    ask = Ask(model="m", prompt="a b c", osl=2, audio=b"RIFF" if "audio" in spoken.TRAITS.inputs else None)
    plain, body = spoken.encode(ask), spoken.encode(msgspec.structs.replace(ask, extra=extra))
    if "audio" in spoken.TRAITS.inputs:
        form = multipart.decode(body)
        assert {name: json.loads(form[name]) for name in extra} == extra
        assert multipart.decode(plain).items() <= form.items()
    else:
        assert json.loads(body) == json.loads(plain) | extra


def test_members_of_an_object_that_both_have_are_joined() -> None:
    ask = Ask(model="m", prompt="a b", osl=2, extra={"sampling_params": {"temperature": 0.5}})
    assert json.loads(dialect.get("sglang").encode(ask))["sampling_params"] == {"temperature": 0.5, "max_new_tokens": 2}
