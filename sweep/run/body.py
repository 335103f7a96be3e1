"""Fields of the user's own for the body of every request, such as `temperature`: read, and kept from what sweep sets itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sweep.dialect import Dialect, multipart
from sweep.errors import UsageError
from sweep.model import Ask

HINT = """for example --body '{"temperature": 0.7}', or the name of a file with such an object"""
SEVERAL = ("n", "best_of")  # answers to one request, which could not be told apart
LENGTH = ("max_tokens", "max_completion_tokens")


def read(given: str) -> dict[str, Any]:
    """The object, or what the file of that name holds. UsageError when it is none."""
    from sweep.curve.files import read_text

    text = given if given.lstrip()[:1] in ("{", "[") else read_text(Path(given))
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"--body: not JSON: {error}", HINT) from None
    if not isinstance(found, dict):
        raise UsageError("--body: not an object", HINT)
    return found


def require_free(spoken: Dialect, extra: dict[str, Any]) -> None:
    """UsageError where a field is sweep's own to set: what it measures by, or would be misled by."""
    own = {*SEVERAL, *(name for length in LENGTH for name in _names(_own(spoken, length)))}
    taken = [name for name in _names(extra) if any(_within(name, ours) or _within(ours, name) for ours in own)]
    if taken:
        raise UsageError(
            f"--body: {', '.join(taken)} {'are' if len(taken) > 1 else 'is'} sweep's own to set",
            "lengths are the profile's, the model is --model's; one answer a request, streamed and counted",
        )


def _own(spoken: Dialect, length: str) -> dict[str, Any]:
    """All that a request of this dialect may hold of ours."""
    fields = (*spoken.TRAITS.optional, "continuous_usage", "return_token_ids", "cache_prompt", length)
    audio = b"" if "audio" in spoken.TRAITS.inputs else None
    encoded = spoken.encode(Ask(model="", prompt="a b", osl=1, fields=fields, audio=audio))
    found: dict[str, Any] = multipart.decode(encoded) if audio is not None else msgspec.json.decode(encoded)
    return found | ({"input_ids": []} if "ids" in spoken.TRAITS.inputs else {})


def _within(name: str, outer: str) -> bool:
    return f"{name}.".startswith(f"{outer}.")


def _names(fields: dict[str, Any], within: str = "") -> Iterator[str]:
    """Of the values: `max_tokens`, `sampling_params.max_new_tokens`."""
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _names(value, f"{within}{name}.")
        else:
            yield f"{within}{name}"
