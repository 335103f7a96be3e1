"""Chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, simulated, wire
from sweep.dialect.openai import WireRequest, WireUsage
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "chat"
PATH = "/chat/completions"
TRAITS = Traits(inputs=("text", "images"))
DEFAULT_OSL = 256
PATCH_PIXELS = 28  # a side of the square that the simulator takes for one token

_CHUNK = "chat.completion.chunk"


class Function(Wire, gc=False):
    name: str | None = None
    arguments: Any = None


class ToolCall(Wire, gc=False):
    function: Function | None = None


class Part(Wire, gc=False):
    text: str | None = None
    thinking: Any = None


class Delta(Wire, gc=False):
    content: str | list[Part] | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None


class Choice(Wire, gc=False):
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    token_ids: list[int] | None = None


class Chunk(Wire, gc=False):
    choices: list[Choice] | None = None
    usage: WireUsage | None = None
    error: Any = None


_decode = wire.decoder(Chunk)


def encode(ask: Ask) -> bytes:
    body = openai.options(ask)
    content: Any = ask.prompt
    if ask.images:
        pictures = ["data:image/png;base64," + b64encode(image).decode() for image in ask.images]
        content = [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
        content.append({"type": "text", "text": ask.prompt})
    body["messages"] = [{"role": "user", "content": content}]
    return wire.body_of(ask, body)


def decode(data: bytes) -> Event:
    chunk = wire.parse(_decode, data)
    if isinstance(chunk, Event):
        return chunk
    choices = chunk.choices
    if not choices:
        return openai.choiceless(data, chunk.usage, chunk.error)
    if len(choices) == 1 and chunk.usage is None and chunk.error is None:  # nearly every event: one delta of the answer
        choice = choices[0]
        said = choice.delta
        if said is not None and type(said.content) is str and said.content and not (choice.finish_reason or choice.token_ids):
            return wire.ANSWER_TOKEN
    answer = reasoning = False
    token_ids = 0
    finish = None
    for choice in choices:
        said = choice.delta or choice.message
        answers = reasons = False
        if said is not None:
            answers, reasons = _channels(said)
        if choice.token_ids:
            token_ids += len(choice.token_ids)
            answers = answers or (said is not None and said.content is not None and not reasons)
        answer |= answers
        reasoning |= reasons
        finish = choice.finish_reason or finish
    token = answer or reasoning or token_ids > 0
    return wire.event_of(
        token, answer, token_ids=token_ids or None, usage=openai.usage_of(chunk.usage), finish=finish, error=chunk.error
    )


decode_whole = decode


def _channels(said: Delta) -> tuple[bool, bool]:
    """(carries part of the answer, carries reasoning). Tool calls and refusals are answers."""
    content = said.content
    reasons = bool(said.reasoning or said.reasoning_content)
    if isinstance(content, list):
        reasons = reasons or any(part.thinking for part in content)
        answers = any(part.text for part in content)
    else:
        answers = bool(content)
    answers = answers or bool(said.refusal)
    if said.tool_calls:
        answers = answers or any(_calls(call.function) for call in said.tool_calls)
    return answers or _calls(said.function_call), reasons


def _calls(function: Function | None) -> bool:
    return function is not None and bool(function.name or function.arguments)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class ImageUrl(Wire, gc=False):
    url: str | None = None


class InputPart(Wire, gc=False):
    text: str | None = None
    image_url: ImageUrl | None = None


class Message(Wire, gc=False):
    content: str | list[InputPart] | None = None


class Request(WireRequest, gc=False):
    messages: list[Message] | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.messages:
        raise ValueError("messages must hold at least one message")
    ask = openai.sim_ask(request, "\n".join(simulated.text(message.content) for message in request.messages), DEFAULT_OSL)
    parts = [part for message in request.messages if isinstance(message.content, list) for part in message.content]
    pictures = sum(_picture_tokens(part.image_url.url or "") for part in parts if part.image_url is not None)
    return msgspec.structs.replace(ask, media_tokens=pictures) if pictures else ask


def _picture_tokens(url: str) -> int:
    """A token for each patch of a PNG. ValueError when it is none."""
    head = b64decode(url.partition(",")[2][:64])
    if head[1:4] != b"PNG" or len(head) < 24:
        raise ValueError("image_url: only PNG in a data URL is understood here")
    width, height = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
    return -(-width // PATCH_PIXELS) * -(-height // PATCH_PIXELS)


def opening(reply_id: str, model: str) -> list[Frame]:
    choice = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    return [(None, openai.reply(_CHUNK, reply_id, model, [choice], None))]


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    delta = {"reasoning_content" if said.reasoning else "content": said.text}
    ids = openai.placeholder_ids(said.tokens, said.with_ids)
    choice = {"index": 0, "delta": delta, "finish_reason": None, **ids}
    return None, openai.reply(_CHUNK, reply_id, model, [choice], said.usage)


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    return openai.closing(_CHUNK, reply_id, model, last, usage)


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return openai.reply("chat.completion", reply_id, model, [choice], usage)


failure = openai.failure
