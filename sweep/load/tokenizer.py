"""A model's own `tokenizer.json`, for endpoints that count nothing themselves. Needs `pareto-sweep[tokenizers]`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from sweep.errors import UsageError

Encode = Callable[[str], list[int]]


@cache
def encoder(path: str) -> Encode:
    """From a text to its token ids, special tokens not added. UsageError when the file or the library cannot be used."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UsageError("--tokenizer needs the tokenizers library", "pip install 'pareto-sweep[tokenizers]'") from None
    try:
        known: Any = Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare exceptions
        said = " ".join(str(error).split())[:100]
        raise UsageError(f"--tokenizer {path}: {said}", "name the tokenizer.json that comes with the model") from None
    return lambda text: list(known.encode(text, add_special_tokens=False).ids)
