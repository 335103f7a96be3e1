"""SGLang's own API: `POST /generate`. Every event repeats the text from the start and counts tokens in `meta_info`."""

from __future__ import annotations

from typing import Any

import msgspec

from sweep.dialect import Frame, Traits, openai, simulated, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, SimChunk, Usage

NAME = "sglang"
PATH = "/generate"
TRAITS = Traits(inputs=("text", "ids"), at_root=True, optional=("ignore_eos", "min_tokens"))
DEFAULT_OSL = 128


class Finish(Wire, gc=False):
    type: str | None = None
    message: str | None = None


class Meta(Wire, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    finish_reason: Finish | str | None = None


class Data(Wire, gc=False):
    text: str | None = None
    meta_info: Meta | None = None
    error: Any = None


_decode = wire.decoder(Data)


def encode(ask: Ask) -> bytes:
    known = {"ignore_eos": ("ignore_eos", True), "min_tokens": ("min_new_tokens", ask.osl)}
    sampling: dict[str, Any] = {"max_new_tokens": ask.osl} | dict(known[name] for name in ask.fields if name in known)
    prompt = {"text": ask.prompt} if ask.ids is None else {"input_ids": ask.ids}
    return wire.body_of(ask, {"model": ask.model, **prompt, "sampling_params": sampling, "stream": ask.stream})


def decode(data: bytes) -> Event:
    """Every event but one that only closes the answer repeats its text; by how many tokens it grew, the usage says."""
    said = wire.parse(_decode, data)
    if isinstance(said, Event):
        return said
    token = bool(said.text)
    if said.meta_info is None:
        return wire.event_of(token, token) if token and said.error is None else openai.choiceless(data, None, said.error)
    ended, error = said.meta_info.finish_reason, said.error
    finish = ended.type if isinstance(ended, Finish) else ended
    if isinstance(ended, Finish) and finish in wire.FAILED_FINISH:
        error = ended.message or finish
    return wire.event_of(token, token, usage=_usage(said.meta_info), finish=finish, error=error)


decode_whole = decode


def _usage(meta: Meta) -> Usage | None:
    return wire.usage_of(meta.prompt_tokens, meta.completion_tokens, meta.cached_tokens, meta.reasoning_tokens)


# --- the simulated endpoint's side -------------------------------------------------------------------------------


class Sampling(Wire, gc=False):
    max_new_tokens: int | None = None
    ignore_eos: bool | None = None


class Request(Wire, gc=False):
    model: str | None = None
    text: str | None = None
    input_ids: list[int] | None = None
    sampling_params: Sampling | None = None
    stream: bool | None = None


_decode_request = msgspec.json.Decoder(Request).decode


def read(body: bytes) -> SimAsk:
    request = wire.request(_decode_request, body)
    sampling = request.sampling_params or Sampling()
    prompt = request.text or " ".join(map(str, request.input_ids or ()))
    if not prompt:
        raise ValueError("text must not be empty")
    return SimAsk(
        prompt=prompt,
        osl=simulated.length(sampling.max_new_tokens, DEFAULT_OSL, "max_new_tokens"),
        model=request.model,
        stream=bool(request.stream),
        include_usage=True,
        continuous_usage=True,
        ignore_eos=bool(sampling.ignore_eos),
    )


opening = simulated.no_opening


def chunk(reply_id: str, model: str, said: SimChunk) -> Frame:
    """Only the new text, as SGLang sends it with `--incremental-streaming-output`."""
    return None, _reply(reply_id, said.text, None, said.usage)


def closing(reply_id: str, model: str, finish: str, usage: Usage | None) -> list[Frame]:
    return [(None, _reply(reply_id, "", finish, usage)), (None, wire.DONE_DATA)]


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    return _reply(reply_id, text, finish, usage)


def _reply(reply_id: str, text: str, finish: str | None, usage: Usage | None) -> bytes:
    meta: dict[str, Any] = {"id": reply_id, "finish_reason": {"type": finish} if finish else None}
    if usage is not None:
        meta |= {
            "prompt_tokens": usage.prompt_tokens or 0,
            "completion_tokens": usage.completion_tokens or 0,
            "cached_tokens": usage.cached_tokens or 0,
        }
    return wire.encode_json({"text": text, "meta_info": meta})


failure = openai.failure
