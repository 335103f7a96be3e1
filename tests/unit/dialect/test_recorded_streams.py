"""Small streams in the manner of real servers, each with the trap it holds. Written by hand after their wire formats."""

from __future__ import annotations

import json
from typing import Any

from sweep import dialect
from sweep.dialect import sse
from sweep.model import Event, Usage


def events_of(name: str, *datas: dict[str, Any] | str, newline: bytes = b"\n") -> list[Event]:
    raw = [data.encode() if isinstance(data, str) else json.dumps(data, ensure_ascii=False).encode() for data in datas]
    stream = b"".join(sse.frame(None, data, newline=newline) for data in raw)
    return [dialect.get(name).decode(data) for data in sse.Splitter().feed(stream)]


def delta(finish: str | None = None, /, *, usage: Any = None, token_ids: Any = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": finish, "token_ids": token_ids}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def text(piece: str, finish: str | None = None, /, *, token_ids: list[int] | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "text": piece, "logprobs": None, "finish_reason": finish, "token_ids": token_ids, **more}
    return {"id": "c-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}


def usage(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **more}


def tokens(events: list[Event]) -> list[bool]:
    return [event.token for event in events]


def test_a_role_alone_is_no_token() -> None:
    for opening in ({"role": "assistant"}, {"role": "assistant", "content": None}, {"role": "assistant", "content": ""}):
        assert tokens(events_of("chat", delta(**opening), delta(content="Hi"))) == [False, True]


def test_a_role_with_text_is_a_token() -> None:
    assert tokens(events_of("chat", delta(role="assistant", content="Hi"))) == [True]


def test_tokens_that_are_not_whole_characters_send_no_chunk() -> None:
    """llama.cpp: 40 tokens in 14 chunks; only usage knows."""
    told = usage(66, 40, prompt_tokens_details={"cached_tokens": 24})
    events = events_of("chat", *[delta(content="👩")] * 14, delta("length"), {"choices": [], "usage": told}, "[DONE]")
    assert sum(tokens(events)) == 14
    assert events[-2].usage == Usage(prompt_tokens=66, completion_tokens=40, cached_tokens=24)
    assert [event.done for event in events] == [False] * 16 + [True]


def test_an_empty_text_is_a_token_only_with_ids() -> None:
    events = events_of("completions", text("中", token_ids=[5]), text("", token_ids=[6]), text("", token_ids=[]), text(""))
    assert tokens(events) == [True, True, False, False]
    assert events[1].answer
    chat = events_of(
        "chat", delta(content="", token_ids=[6]), delta(content=""), delta(role="assistant", content="", token_ids=[])
    )
    assert [(event.token, event.answer) for event in chat] == [(True, True), (False, False), (False, False)]
    assert not events_of("chat", delta(reasoning="", token_ids=[6]))[0].answer


def test_the_last_token_may_come_with_the_finish_reason() -> None:
    for event in [*events_of("chat", delta("stop", content="!")), *events_of("completions", text("!", "stop"))]:
        assert event == Event(token=True, answer=True, finish="stop")


def test_ids_are_counted_beside_the_text() -> None:
    for event in [
        *events_of("chat", delta(content="a b", token_ids=[1, 2])),
        *events_of("completions", text("a b", token_ids=[1, 2])),
    ]:
        assert event == Event(token=True, answer=True, token_ids=2)


def test_several_choices_are_one_event() -> None:
    both = {"choices": [*delta("stop", content="a", token_ids=[1])["choices"], *delta(content="b", token_ids=[2])["choices"]]}
    assert events_of("chat", both) == [Event(token=True, answer=True, token_ids=2, finish="stop")]


def test_one_chunk_may_hold_five_tokens() -> None:
    """vLLM with speculative decoding; the prompt's ids in the first chunk are none of the answer's."""
    first = text(" is", token_ids=[314], prompt_token_ids=[504, 3575, 282])
    events = events_of("completions", first, text(" Wein" * 5, "length", token_ids=[44235] * 5))
    assert [event.token_ids for event in events] == [1, 5]
    prompt_on_top = {**delta(role="assistant", content=""), "prompt_token_ids": [1, 2, 3]}
    assert events_of("chat", prompt_on_top) == [Event()]


def test_usage_in_the_finish_chunk_and_no_end_mark() -> None:
    """transformers: `choices` is not empty where `usage` comes, and no [DONE] follows; fields that others send are absent."""
    last = {"choices": [{"finish_reason": "length", "index": 0, "text": ""}], "usage": usage(5, 8)}
    events = events_of("completions", {"choices": [{"index": 0, "text": " Paris"}]}, last)
    assert tokens(events) == [True, False]
    assert (events[1].finish, events[1].usage) == ("length", Usage(prompt_tokens=5, completion_tokens=8))
    assert not any(event.done for event in events)


def test_continuous_usage_comes_with_every_chunk() -> None:
    events = events_of(
        "chat",
        delta(role="assistant", content="", usage=usage(33, 0, completion_tokens_details=None)),
        delta(content=" a", usage=usage(33, 1)),
        delta(content="", usage=usage(33, 2)),
        delta("length", content=" b", usage=usage(33, 3)),
        {"choices": [], "usage": usage(33, 3)},
    )
    assert tokens(events) == [False, True, False, True, False]
    assert [event.usage and event.usage.completion_tokens for event in events] == [0, 1, 2, 3, 3]
    (event,) = events_of("completions", {**text("a"), "usage": usage(33, 1)})
    assert event == Event(token=True, answer=True, usage=Usage(prompt_tokens=33, completion_tokens=1))


def test_reasoning_is_a_token_but_no_answer() -> None:
    for field in ("reasoning", "reasoning_content"):
        events = events_of(
            "chat", delta(**{field: "\n"}), delta(**{field: ""}), delta(content="So"), delta(**{field: "x", "content": "y"})
        )
        assert [(event.token, event.answer) for event in events] == [(True, False), (False, False), (True, True), (True, True)]
    details = usage(11, 4, completion_tokens_details={"reasoning_tokens": 4})
    (event,) = events_of("chat", {"choices": [], "usage": details})
    assert event.usage is not None
    assert event.usage.reasoning_tokens == 4


def test_thinking_as_content_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = events_of("chat", delta(content=[thinking]), delta(content=[{"type": "text", "text": "So"}]), delta(content=[]))
    assert [(event.token, event.answer) for event in events] == [(True, False), (True, True), (False, False)]


def test_tool_calls_and_refusals_are_answers() -> None:
    def call(**function: Any) -> dict[str, Any]:
        return delta(tool_calls=[{"index": 0, "function": function}])

    events = events_of(
        "chat", call(name="f", arguments=""), call(arguments="{"), call(arguments=""), delta(tool_calls=[]), delta(refusal="No")
    )
    assert [(event.token, event.answer) for event in events] == [(True, True)] * 2 + [(False, False)] * 2 + [(True, True)]
    assert tokens(events_of("chat", delta(function_call={"name": "f"}))) == [True]


def test_progress_of_the_prompt_is_no_token() -> None:
    progress = {
        **delta(role="assistant", content=None),
        "timings": {"prompt_n": 48},
        "prompt_progress": {"total": 48, "processed": 48},
    }
    assert tokens(events_of("chat", progress, progress, delta(content="A"))) == [False, False, True]


def test_an_error_inside_a_200() -> None:
    shapes: list[dict[str, Any]] = [
        {"error": {"message": "out of memory", "type": "server_error", "code": 500}},
        {"error": "out of memory", "error_type": "overloaded"},
        {"object": "error", "message": "out of memory", "code": 500},
        {"type": "error", "error": {"type": "overloaded_error", "message": "out of memory"}},
        {"code": 500, "message": "out of memory"},
        {"detail": "out of memory"},
        {**delta(content="x"), "error": {"message": "out of memory"}},
        {**delta("error"), "error": {"message": "out of memory"}},
        {"choices": [], "usage": usage(1, 0), "error": {"message": "out of memory"}},
    ]
    for name in ("chat", "completions"):
        for event in events_of(name, *shapes):
            assert "out of memory" in (event.error or "")
        assert all(event.error for event in events_of(name, {"error": {}}, text("", "abort"), text("", "error")))


def test_no_error_is_no_error() -> None:
    for nothing in (None, False, ""):
        assert events_of("chat", {**delta(content="x"), "error": nothing}) == [Event(token=True, answer=True)]


def test_keep_alives_are_nothing() -> None:
    assert (
        events_of(
            "chat", "", " ", "{}", {"type": "ping"}, {"usage": None}, {"usage": {}}, {"choices": None}, {"message": "queued"}
        )
        == [Event()] * 8
    )


def test_the_end_mark_in_any_dress() -> None:
    assert events_of("chat", "[DONE]", " [DONE] ", newline=b"\r\n") == [Event(done=True)] * 2


def test_half_an_emoji_is_a_token() -> None:
    assert tokens(events_of("chat", r'{"choices": [{"delta": {"content": "\ud83d"}}]}')) == [True]


def test_an_empty_finish_reason_is_none() -> None:
    assert events_of("completions", text("x", "")) == [Event(token=True, answer=True)]
