"""Streams of the dialects whose events have names, in the manner of real servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sweep.dialect import messages, responses, sse
from sweep.model import Event, Usage


def events_of(spoken: Any, *datas: dict[str, Any]) -> list[Event]:
    stream = b"".join(sse.frame(data["type"], json.dumps(data).encode()) for data in datas)
    return [spoken.decode(data) for data in sse.Splitter().feed(stream)]


def block(**delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def channels(events: list[Event]) -> list[tuple[bool, bool]]:
    return [(event.token, event.answer) for event in events]


TOKEN, REASONING, NOTHING = (True, True), (True, False), (False, False)


def test_a_message_from_its_start_to_its_stop() -> None:
    """Prompt tokens come first and without the cached ones, output tokens last; the 1 at the start is no token yet."""
    start = {"usage": {"input_tokens": 1, "cache_read_input_tokens": 32, "cache_creation_input_tokens": 3, "output_tokens": 1}}
    events = events_of(
        messages,
        {"type": "message_start", "message": start},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        block(type="text_delta", text="Hello"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    )
    assert channels(events) == [NOTHING] * 3 + [TOKEN] + [NOTHING] * 3
    assert events[0].usage == Usage(prompt_tokens=36, cached_tokens=32)
    assert (events[5].usage, events[5].finish) == (Usage(completion_tokens=4), "length")
    assert events[6].done


def test_prompt_tokens_may_come_late() -> None:
    start, late = events_of(
        messages,
        {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 33, "output_tokens": 4}},
    )
    assert start.usage is None
    assert late.usage == Usage(prompt_tokens=33, completion_tokens=4)
    assert late.finish == "stop"


def test_channels_of_a_message() -> None:
    events = events_of(
        messages,
        block(type="thinking_delta", thinking="hm"),
        block(type="signature_delta", signature="c2ln"),
        block(type="input_json_delta", partial_json='{"a'),
        block(type="input_json_delta", partial_json=""),
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "f", "input": {}}},
    )
    assert channels(events) == [REASONING, NOTHING, TOKEN, NOTHING, TOKEN]


def test_an_overloaded_server_says_so_in_the_stream() -> None:
    (event,) = events_of(messages, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    assert event.error == "overloaded_error: Overloaded"
    assert all(event.error for spoken in (messages, responses) for event in events_of(spoken, {"type": "error"}))


def test_a_whole_message() -> None:
    body = {"type": "message", "content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens", "usage": {}}
    event = messages.decode_whole(json.dumps(body).encode())
    assert event == Event(token=True, finish="length")


def test_a_response_says_its_text_once() -> None:
    """The text comes again in three closing events, which are no tokens."""
    text = {"type": "output_text", "text": "Hello there"}
    usage = {"input_tokens": 33, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 32}}
    events = events_of(
        responses,
        {"type": "response.created", "response": {"status": "in_progress", "usage": None}},
        {"type": "response.output_item.added", "item": {"type": "message", "content": []}},
        {"type": "response.content_part.added", "part": {"type": "output_text", "text": ""}},
        {"type": "response.output_text.delta", "delta": "Hello"},
        {"type": "response.output_text.delta", "delta": " there"},
        {"type": "response.output_text.delta", "delta": ""},
        {"type": "response.output_text.done", "text": "Hello there"},
        {"type": "response.content_part.done", "part": text},
        {"type": "response.output_item.done", "item": {"type": "message", "content": [text]}},
        {"type": "response.completed", "response": {"status": "completed", "output": [{"content": [text]}], "usage": usage}},
    )
    assert channels(events) == [NOTHING] * 3 + [TOKEN] * 2 + [NOTHING] * 5
    assert events[-1] == Event(usage=Usage(prompt_tokens=33, completion_tokens=4, cached_tokens=32), finish="stop", done=True)


def test_a_completed_response_may_be_incomplete() -> None:
    """vLLM names the event `completed` and says `incomplete` inside."""
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert [event.finish for event in events_of(responses, {"type": "response.completed", "response": response})] == ["length"]


def test_channels_of_a_response() -> None:
    events = events_of(
        responses,
        {"type": "response.reasoning_text.delta", "delta": "hm"},
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {"type": "response.output_item.added", "item": {"type": "function_call", "name": "f", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "delta": "{"},
        {"type": "response.refusal.delta", "delta": "No"},
    )
    assert channels(events) == [REASONING, REASONING, TOKEN, TOKEN, TOKEN]


@pytest.mark.parametrize(
    "data",
    [
        {"type": "error", "code": "server_error", "message": "out of memory", "param": None},
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error", "message": "out of memory"}},
        },
    ],
)
def test_a_response_that_fails(data: dict[str, Any]) -> None:
    (event,) = events_of(responses, data)
    assert "out of memory" in (event.error or "")


def test_a_cancelled_response_is_no_success() -> None:
    (event,) = events_of(responses, {"type": "response.cancelled", "response": None})
    assert event.error == "response cancelled"


def test_a_whole_response() -> None:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    only, both = (
        responses.decode_whole(json.dumps({"status": "completed", "output": output}).encode())
        for output in ([reasoning], [reasoning, call])
    )
    assert channels([only, both]) == [REASONING, TOKEN]
    assert only.done
    assert only.finish == "stop"
