"""Answers whose tokens nobody counts: their text is tokenised when they are whole, and never piece by piece."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sweep import dialect
from sweep.dialect.sse import frame
from sweep.errors import UsageError
from sweep.load import said
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.model import SimChunk, TokenSource, Usage
from sweep.prompt import tokenizer

CHAT = dialect.get("chat")


def letters(text: str) -> int:
    return len(text)


def metered(*texts: str, usage: Usage | None = None, ids: bool = False, finish: bool = True, limit: int | None = None) -> Meter:
    meter = Meter(CHAT, Reads(), letters)
    frames = [*CHAT.opening("r", "m"), *(CHAT.chunk("r", "m", SimChunk(text=text, with_ids=ids)) for text in texts)]
    frames += CHAT.closing("r", "m", "stop", usage) if finish else []
    for each in frames:
        meter.feed(frame(*each), 1)
    return meter


def test_the_best_source_wins() -> None:
    assert metered("ab", "c").tokens() == (3, TokenSource.TOKENIZER)
    assert metered("ab", "c", ids=True).tokens() == (2, TokenSource.TOKEN_IDS)
    assert metered("ab", "c", usage=Usage(prompt_tokens=1, completion_tokens=7)).tokens() == (7, TokenSource.USAGE)


def test_an_answer_that_is_not_whole_has_its_chunks_counted() -> None:
    assert metered("ab", "c", finish=False).tokens() == (2, TokenSource.CHUNKS)


def test_asking_twice_counts_once() -> None:
    meter = metered("ab", "c")
    assert meter.tokens() == meter.tokens() == (3, TokenSource.TOKENIZER)


def test_a_text_too_long_to_be_held_has_its_chunks_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "MAX_CHARS", 5)
    assert metered("abc", "def", "g").tokens() == (3, TokenSource.CHUNKS)


def test_every_channel_is_text() -> None:
    delta = {"reasoning": "a", "content": "b", "tool_calls": [{"function": {"name": "f", "arguments": "c"}}]}
    event = {"id": "no", "choices": [{"delta": delta, "finish_reason": None}], "usage": {"content": "no"}}
    assert said.text_of(json.dumps(event).encode()) == "abc"
    assert [said.text_of(each) for each in (b"[DONE]", b"{}", b'{"choices":null}')] == [""] * 3


def test_without_the_library_the_hint_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match="needs the tokenizers library") as error:
        tokenizer.counter("never-read.json")
    assert "pareto-sweep[tokenizers]" in (error.value.hint or "")


def test_a_real_tokenizer(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    words = library.Tokenizer(library.models.WordLevel({"one": 0, "two": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = library.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    words.save(str(path))
    assert tokenizer.counter(str(path))("one two three") == 3
    path.with_name("broken.json").write_text("{}")
    with pytest.raises(UsageError, match="--tokenizer"):
        tokenizer.counter(str(path.with_name("broken.json")))
