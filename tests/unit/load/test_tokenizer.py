"""A model's own `tokenizer.json`, and what to do without the library that reads it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sweep.errors import UsageError
from sweep.load import tokenizer


def test_without_the_library_the_hint_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match="needs the tokenizers library") as error:
        tokenizer.encoder("never-read.json")
    assert "pareto-sweep[tokenizers]" in (error.value.hint or "")


def test_a_real_tokenizer(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    words = library.Tokenizer(library.models.WordLevel({"one": 0, "two": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = library.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    words.save(str(path))
    assert tokenizer.encoder(str(path))("one two three") == [0, 1, 2]
    path.with_name("broken.json").write_text("{}")
    with pytest.raises(UsageError, match="--tokenizer"):
        tokenizer.encoder(str(path.with_name("broken.json")))
