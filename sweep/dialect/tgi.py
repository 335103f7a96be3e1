"""Text Generation Inference's own API: `POST /generate_stream`. One event a token; the last one carries the counts as well.

It has no way to make an answer as long as asked: OSL is an upper limit here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, simulated, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "tgi"
PATH = "/generate_stream"
TRAITS = Traits(at_root=True, ends_with_done=False, optional=())
DEFAULT_OSL = 100

FINISH = {"eos_token": "stop", "stop_sequence": "stop"}


class Token(Wire, gc=False):
    text: str | None = None


class Details(Wire, gc=False):
    finish_reason: str | None = None
    generated_tokens: int | None = None
    input_length: int | None = None
    prefill: list[Token] | None = None


class Data(Wire, gc=False):
    token: Token | None = None
    generated_text: str | None = None
    details: Details | None = None
    error: Any = None


_decode = wire.decoder(Data)


def encode(ask: Ask) -> bytes:
    parameters = {"max_new_tokens": ask.osl, "details": True}
    return wire.body_of(ask, {"inputs": ask.prompt, "parameters": parameters, "stream": ask.stream, "model": ask.model})


def decode(data: bytes) -> Event:
    said = wire.parse(_decode, data)
    if isinstance(said, Event):
        return said
    return _event(said, data, said.token is not None and bool(said.token.text))


def decode_whole(data: bytes) -> Event:
    said = wire.parse(_decode, data)
    return said if isinstance(said, Event) else _event(said, data, bool(said.generated_text))


def _event(said: Data, data: bytes, token: bool) -> Event:
    if said.error is not None or (said.details is None and not token):
        return openai.choiceless(data, None, said.error and msgspec.json.decode(data))
    details = said.details or Details()
    usage = wire.usage_of(details.input_length, details.generated_tokens)
    reason = details.finish_reason
    return wire.event_of(token, token, usage=usage, finish=FINISH.get(reason, reason) if reason else None)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Parameters(Wire, gc=False):
    max_new_tokens: int | None = None


class Request(Wire, gc=False):
    model: str | None = None
    inputs: str | None = None
    parameters: Parameters | None = None
    stream: bool | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    if not request.inputs:
        raise ValueError("inputs must not be empty")
    osl = simulated.length((request.parameters or Parameters()).max_new_tokens, DEFAULT_OSL, "max_new_tokens")
    stream = request.stream is not False
    return SimAsk(prompt=request.inputs, osl=osl, model=request.model, stream=stream, include_usage=True)


opening = simulated.no_opening


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    token = {"id": 0, "text": said.text, "logprob": 0.0, "special": False}
    return None, wire.encode_json({"index": 0, "token": token, "generated_text": None, "details": None})


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    """The end mark of a sequence is a token without text."""
    token = {"id": 0, "text": "", "logprob": 0.0, "special": True}
    return [(None, wire.encode_json({"index": 0, "token": token, "generated_text": "", "details": _details(finish, usage)}))]


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    return wire.encode_json({"generated_text": text, "details": _details(finish, usage)})


def _details(finish: str, usage: Usage | None) -> dict[str, Any]:
    told: dict[str, Any] = {"finish_reason": "eos_token" if finish == "stop" else finish, "seed": None}
    if usage is not None:
        told |= {"generated_tokens": usage.completion_tokens or 0, "input_length": usage.prompt_tokens or 0}
    return told


def failure(message: str, code: int) -> bytes:
    return wire.encode_json({"error": message, "error_type": "validation" if code < 500 else "generation"})
