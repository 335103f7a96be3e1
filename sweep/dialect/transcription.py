"""Speech to text: `POST /v1/audio/transcriptions`, a form with a file. Its work is counted in seconds of audio.

Servers tell the duration only where `verbose_json` is asked for (Whisper's family) or as usage (vLLM).
"""

from __future__ import annotations

import struct
from typing import Any

from sweep.dialect import Traits, fault, multipart, openai, pieces, wire
from sweep.dialect.wire import Wire
from sweep.model import Ask, Event, SimAsk, Usage

NAME = "transcription"
PATH = "/audio/transcriptions"
TRAITS = Traits(
    unit="audio seconds",
    inputs=("audio",),
    streams=False,
    content_type=multipart.CONTENT_TYPE,
    optional=("response_format",),
)


class WireUsage(Wire, gc=False):
    seconds: float | None = None


class Answer(Wire, gc=False):
    text: str | None = None
    duration: float | str | None = None
    usage: WireUsage | None = None
    error: Any = None


_decode = wire.decoder(Answer)


def encode(ask: Ask) -> bytes:
    """ValueError when there is no audio to send."""
    if ask.audio is None:
        raise ValueError("a transcription needs audio")
    told = {name: value if isinstance(value, str) else wire.encode_json(value).decode() for name, value in ask.extra.items()}
    fields = told | {"model": ask.model}
    if "response_format" in ask.fields:
        fields["response_format"] = "verbose_json"
    return multipart.encode(fields, "file", "speech.wav", "audio/wav", ask.audio)


def decode(data: bytes) -> Event:
    answer = wire.parse(_decode, data)
    if isinstance(answer, Event):
        return answer
    if answer.text is None:
        return wire.event_of(error=answer.error or fault.parse(data))
    told = answer.duration if answer.duration is not None else answer.usage.seconds if answer.usage else None
    usage = None if told is None else Usage(completion_tokens=round(float(told)))
    return pieces.arrived(bool(answer.text.strip()), usage, answer.error)


decode_whole = decode

# --- the simulated endpoint's side -------------------------------------------------------------------------------


def read(body: bytes) -> SimAsk:
    form = multipart.decode(body)
    if "file" not in form:
        raise ValueError("file is missing")
    seconds = round(wav_s(form["file"]))
    if seconds < 1:
        raise ValueError("the audio is too short")
    model = form["model"].decode("utf-8", "replace") if "model" in form else None
    return SimAsk(prompt=form.get("prompt", b"").decode("utf-8", "replace"), osl=seconds, model=model, stream=False)


def wav_s(wav: bytes) -> float:
    """Seconds of a WAV file, from its header. ValueError when it is none."""
    if wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        raise ValueError("file: only WAV is understood here")
    at, bytes_per_s = 12, 0
    while at + 8 <= len(wav):
        kind, size = struct.unpack_from("<4sI", wav, at)
        if kind == b"fmt " and size >= 16 and at + 20 <= len(wav):
            (bytes_per_s,) = struct.unpack_from("<I", wav, at + 16)
        elif kind == b"data" and bytes_per_s:
            return float(min(size, len(wav) - at - 8) / bytes_per_s)
        at += 8 + size + size % 2
    raise ValueError("file: a WAV without sound")


def whole(reply_id: str, model: str, text: str, finish: str, usage: Usage) -> bytes:
    said: dict[str, Any] = {"task": "transcribe", "language": "english", "duration": usage.completion_tokens or 0, "text": text}
    return wire.encode_json(said)


failure = openai.failure
