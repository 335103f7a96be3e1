"""Finding dialects, and the details of single ones that the common contract leaves open."""

from __future__ import annotations

import json

import pytest

from sweep import dialect
from sweep.dialect import chat, completions
from sweep.errors import UsageError
from sweep.model import Ask, SimChunk


def test_dialects_are_found_by_scanning() -> None:
    assert {"chat", "completions"} <= set(dialect.names())
    assert "sse" not in dialect.names()
    with pytest.raises(UsageError) as caught:
        dialect.get("sse")
    assert "chat" in (caught.value.hint or "")


def test_chat_sends_what_was_asked_and_only_that() -> None:
    assert json.loads(chat.encode(Ask(model="m", prompt="hi", osl=8))) == {
        "model": "m",
        "max_tokens": 8,
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_optional_fields_are_sent_when_the_server_takes_them() -> None:
    every = ("stream_options", "continuous_usage", "ignore_eos", "min_tokens", "return_token_ids", "cache_prompt")
    assert json.loads(completions.encode(Ask(model="m", prompt="hi", osl=8, fields=every))) == {
        "model": "m",
        "max_tokens": 8,
        "stream": True,
        "prompt": "hi",
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "ignore_eos": True,
        "min_tokens": 8,
        "return_token_ids": True,
        "cache_prompt": False,
    }


def test_the_newer_name_of_the_length() -> None:
    ask = Ask(model="m", prompt="hi", osl=8, fields=("max_completion_tokens",))
    body = json.loads(chat.encode(ask))
    assert body["max_completion_tokens"] == 8
    assert "max_tokens" not in body
    assert chat.read(chat.encode(ask)).osl == 8


def test_the_simulator_reads_what_clients_send() -> None:
    body = {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "ignore_eos": True,
        "return_token_ids": True,
        "temperature": 0.7,
    }
    read = chat.read(json.dumps(body).encode())
    assert (read.prompt, read.osl, read.model) == ("Be brief.\nHi", chat.DEFAULT_OSL, None)
    assert read.include_usage
    assert read.continuous_usage
    assert read.ignore_eos
    assert read.return_token_ids


def test_prompts_as_token_ids() -> None:
    assert completions.read(b'{"prompt": [1, 2, 3]}').prompt == "1 2 3"
    assert completions.read(b'{"prompt": [[1, 2], [3]]}').prompt == "1 2 3"
    assert completions.read(b'{"prompt": ["a b", "c"]}').prompt == "a b c"


@pytest.mark.parametrize("spoken", [chat, completions])
def test_the_simulator_lists_ids_where_asked(spoken: dialect.Dialect) -> None:
    data = spoken.chunk("r", "m", SimChunk(text="", tokens=3, with_ids=True))[1]
    assert spoken.decode(data).token_ids == 3
    assert spoken.decode(data).token
