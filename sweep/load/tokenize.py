"""How a server is asked for the tokens of a text: `POST /tokenize` beside its /v1, as vLLM, SGLang and llama.cpp offer it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATH = "/tokenize"


def question(model: str, text: str) -> dict[str, Any]:
    """The body that each of them understands: vLLM and SGLang call the text `prompt`, llama.cpp `content`."""
    return {"model": model, "prompt": text, "content": text, "add_special_tokens": False, "add_special": False}


def count_of(said: Mapping[str, Any]) -> int | None:
    """How many tokens the answer names; None when it is no such answer."""
    count, listed = said.get("count"), said.get("tokens")
    return count if type(count) is int else len(listed) if isinstance(listed, list) else None


def ids_of(said: Mapping[str, Any]) -> list[int] | None:
    """The tokens' ids; None where the answer does not list them."""
    listed = said.get("tokens")
    return listed if isinstance(listed, list) and listed and all(type(one) is int for one in listed) else None
