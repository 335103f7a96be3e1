"""The line kept of an error: short, telling, and without the request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sweep.dialect import chat, completions, fault

SECRET = "the quick brown fox jumps over the lazy dog near the river bank"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}},
            "authentication_error: Invalid API Key",
        ),
        ({"error": "model is loading", "error_type": "overloaded"}, "overloaded: model is loading"),
        ({"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}, "BadRequestError: too long"),
        ({"detail": "Unexpected fields in the request: {'ignore_eos'}"}, "Unexpected fields in the request: {'ignore_eos'}"),
        (
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "ignore_eos"], "msg": "Not permitted", "input": SECRET}]},
            "extra_forbidden: Not permitted (body.ignore_eos)",
        ),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded_error: Overloaded"),
        ({"code": 503}, "503"),
        ({}, "unspecified error"),
        (None, "unspecified error"),
        ("plain", "plain"),
    ],
)
def test_json_bodies(body: Any, line: str) -> None:
    assert fault.explain(json.dumps(body).encode()) == line


def test_html_tells_its_title() -> None:
    assert fault.explain(b"<html>\r\n<head><title>504 Gateway\n Time-out</title></head><body>") == "504 Gateway Time-out"


def test_other_text_is_one_short_line() -> None:
    assert fault.explain(b"upstream\n  gone \xff") == "upstream gone �"
    assert fault.explain(b"") == ""
    assert len(fault.explain(b"x" * 10_000_000)) == fault.MAX_CHARS


@pytest.mark.parametrize(
    "message",
    [
        "1 validation error: {'type': 'string_type', 'loc': ('body', 'prompt'), 'msg': 'no', 'input': {'messages': [{'content': '%s'}]}}",
        "Input should be a valid string [type=string_type, input_value={'content': '%s'}, input_type=dict]",
        'cannot parse {"model": "m", "prompt": "%s"}',
        "bad request, messages=[%s]",
    ],
)
def test_echoes_of_the_request_are_cut(message: str) -> None:
    said = fault.describe({"message": message % SECRET})
    assert SECRET[:16] not in said
    assert said.split()[0] == message.split()[0]


def test_a_known_prompt_is_taken_out_wherever_it_stands() -> None:
    said = f"cannot answer <{SECRET}> and not {SECRET[20:40]!r} either"
    assert fault.redact(said, f"x {SECRET} y") == "cannot answer <…> and not '…' either"
    assert fault.redact("context is 2048 tokens", SECRET) == "context is 2048 tokens"
    assert fault.redact("", SECRET) == ""


@pytest.mark.parametrize("depth", [100, 200_000])
@pytest.mark.parametrize("spoken", [chat, completions])
def test_deep_nesting_ends_in_the_protocols_error(spoken: Any, depth: int) -> None:
    nest = b"[" * depth
    for data in (nest, b'{"error":' + nest, b'{"choices":' + nest):
        with pytest.raises(ValueError) as caught:
            spoken.decode(data)
        assert len(str(caught.value)) <= 200
    assert fault.explain(b'{"error":' + nest + b"]" * depth + b"}")


def test_errors_within_errors_end_somewhere() -> None:
    assert fault.explain(b'{"error":' * 480 + b'"x"' + b"}" * 480) == "unspecified error"
    assert fault.explain(b'{"error":{"error":"x"}}') == "x"


def test_an_error_of_megabytes_is_read_in_no_time() -> None:
    for filler in (" ", "(", "<title", "input", "'"):
        assert len(fault.explain((filler * 1_000_000).encode())) <= fault.MAX_CHARS
        assert len(fault.describe({"message": filler * 1_000_000})) <= fault.MAX_CHARS
