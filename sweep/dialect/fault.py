"""The one line kept of an error that a server sent: short, and without the request it may echo."""

from __future__ import annotations

import re
from typing import Any

import msgspec

MAX_CHARS = 300
ECHO_CHARS = 16
_READ_CHARS = 2048  # of an error that may be megabytes
_INPUT_ECHO = re.compile(r"""[,{(\s]*['"]?\b(?:input|input_value|prompt|messages|body)['"]?\s*[:=]\s*[\[{'"].*""", re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL | re.IGNORECASE)


def describe(error: Any) -> str:
    """`type: message` of an error object in any of the usual shapes, at most `MAX_CHARS` characters."""
    return shorten(_message(error) or "unspecified error")


def explain(body: bytes) -> str:
    """The same for the body of an HTTP error, be it JSON, HTML or plain text; empty when the body is."""
    try:
        return describe(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError):
        text = body[:_READ_CHARS].decode("utf-8", "replace")
        title = _TITLE.search(text)
        return shorten(title[1] if title else text)


def parse(data: bytes) -> dict[str, Any]:
    """The JSON object in `data`. ValueError when there is none."""
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def shorten(text: str) -> str:
    """`text` in one line, cut where validators begin to echo the request (`'input': …`) and at `MAX_CHARS`."""
    line = " ".join(_INPUT_ECHO.sub(" …", text[:_READ_CHARS]).split())
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"


def redact(text: str, prompt: str) -> str:
    """`text` without any stretch of `ECHO_CHARS` or more characters that also stands in `prompt`."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        length = ECHO_CHARS
        if text[at : at + length] in prompt and at + length <= len(text):
            while at + length < len(text) and text[at : at + length + 1] in prompt:
                length += 1
            kept.append("…")
            at += length
        else:
            kept.append(text[at])
            at += 1
    return "".join(kept)


def _message(error: Any, depth: int = 4) -> str:
    if isinstance(error, str):
        return error
    if error is None or depth == 0:
        return ""
    if isinstance(error, list):
        return "; ".join(filter(None, (_message(item, depth - 1) for item in error[:4])))
    if not isinstance(error, dict):
        return str(error)
    messages = (_message(error.get(key), depth - 1) for key in ("message", "error", "detail", "msg", "errors"))
    message = next(filter(None, messages), "")
    if message and isinstance(error.get("loc"), list):  # FastAPI's way to name the field
        message += f" ({'.'.join(map(str, error['loc']))})"
    kind = next((error[key] for key in ("type", "error_type", "code") if isinstance(error.get(key), str | int)), "")
    return f"{kind}: {message}" if kind and message and kind not in ("error", message) else message or str(kind)
