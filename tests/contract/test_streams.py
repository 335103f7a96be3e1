"""Recorded answers, cut anywhere and merged at random, through the client's own path from the socket's bytes to the records.

`streams/` holds what servers sent, byte for byte but for dates and ids: llama.cpp's, vLLM's (an emoji is three tokens, two of
them without text), and the simulated endpoint's in its odder manners. Where the network cut a stream must change nothing but the
times, and those only as far as bytes really came later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from sweep import dialect
from sweep.load.answer import Answer
from sweep.load.call import Call
from sweep.load.http1 import Response
from sweep.load.line import Line
from sweep.load.look import Reads
from sweep.load.meter import Meter

STREAMS = Path(__file__).with_name("streams")


@dataclass(frozen=True)
class Expected:
    """What a recording holds. `chunk_tokens`: tokens of each chunk that carries any."""

    dialect: str
    outcome: str
    chunk_tokens: tuple[int, ...]
    osl: int | None
    source: str
    isl: int | None = None
    status: int = 200


RECORDED = {
    "llamacpp-chat": Expected("chat", "ok", (1,) * 6, 6, "usage", 34),
    "llamacpp-completion": Expected("completions", "ok", (1,) * 6, 6, "usage", 4),
    "llamacpp-emoji": Expected("chat", "ok", (1,) * 4, 12, "usage", 66),
    "llamacpp-progress": Expected("chat", "ok", (1,) * 3, 3, "usage", 34),
    "llamacpp-messages": Expected("messages", "ok", (1,) * 4, 4, "usage", 34),
    "llamacpp-whole": Expected("chat", "ok", (6,), 6, "usage", 34),
    "llamacpp-context": Expected("completions", "http_error", (), None, "unknown", status=400),
    "llamacpp-prompt-ids": Expected("completions", "ok", (1,) * 5, 5, "usage", 9),
    "vllm-continuous": Expected("chat", "ok", (1,) * 8, 8, "usage", 42),
    "vllm-ids": Expected("completions", "ok", (1,) * 6, 6, "token_ids"),
    "vllm-prompt-ids": Expected("completions", "ok", (1,) * 6, 6, "usage", 9),
    "sim-continuous": Expected("chat", "ok", (1, 1, 2, 3, 1, 1), 9, "usage", 10),
    "sim-ids": Expected("chat", "ok", (1, 1, 5, 1, 1), 9, "token_ids"),
    "sim-error": Expected("chat", "stream_error", (1, 1), 2, "chunks"),
    "sim-truncated": Expected("chat", "truncated", (1, 1), 2, "chunks"),
}


class Plug:
    """Stands in for a connection and its transport: nothing is sent anywhere."""

    def __init__(self) -> None:
        self.transport: Any = self
        self.stamp_ns = 0
        self.sent_ns = 0

    def under(self, transport: Any) -> Plug:
        return self

    def set_protocol(self, protocol: Any) -> None: ...
    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None:
        self.sent_ns = 1

    def abort(self) -> None: ...
    def close(self) -> None: ...


class Future:
    def done(self) -> bool:
        return True


def replay(raw: bytes, spoken: str, cuts: list[int]) -> dict[str, Any]:
    """The row of a call that is answered with `raw`, read up to each of `cuts` and then to its end, then closed.

    A read is stamped with the number of bytes that have come by then.
    """
    plug, speech = Plug(), dialect.get(spoken)
    call = Call(0, 8, 8, b"{}", Meter(speech, Reads()))

    def begin(call: Call, response: Response) -> Answer:
        return Answer(call, response, speech, lambda call, text: text)

    line = Line(plug, plug, begin, [])
    line.send(call, b"")
    at = 0
    for cut in [*cuts, len(raw)]:
        if cut > at and not line.closed:
            plug.stamp_ns = cut + 1
            line.data_received(raw[at:cut])
            at = cut
    if not line.closed:
        line.connection_lost(None)
    row = asdict(call.row())
    row["chunk_ns"] = [ns - 1 for ns in memoryview(row["chunk_ns"]).cast("q")]
    row["chunk_tokens"] = tuple(memoryview(row["chunk_tokens"]).cast("q"))
    return row


TIMES = ("chunk_ns", "first_ns", "first_answer_ns", "last_ns", "end_ns", "events_per_read_max")


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in TIMES}


def raw_of(name: str) -> bytes:
    return (STREAMS / f"{name}.http").read_bytes()


@cache
def byte_by_byte(name: str) -> dict[str, Any]:
    raw = raw_of(name)
    return replay(raw, RECORDED[name].dialect, list(range(1, len(raw))))


def ends_of_events(raw: bytes) -> list[int]:
    """After how many bytes of the response each event was complete: read here without any of the client's code."""
    at = raw.index(b"\r\n\r\n") + 4
    body, places = bytearray(), []
    while (size := int(raw[at : (line := raw.index(b"\r\n", at))], 16)) > 0:
        body += raw[line + 2 : line + 2 + size]
        places += range(line + 3, line + 3 + size)
        at = line + 4 + size
        if at >= len(raw):
            break
    return [places[end.end() - 1] for end in re.finditer(rb"\n\n|\r\n\r\n", body)]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_says_what_it_says(name: str) -> None:
    expected, row = RECORDED[name], byte_by_byte(name)
    assert (row["outcome"], row["status"], row["chunk_tokens"]) == (expected.outcome, expected.status, expected.chunk_tokens)
    assert (row["osl"], row["token_source"], row["isl"]) == (expected.osl, expected.source, expected.isl)
    assert (row["error"] is None) == (expected.outcome == "ok")


@pytest.mark.parametrize("name", [name for name, each in RECORDED.items() if len(each.chunk_tokens) > 1])
def test_a_token_has_come_when_its_event_is_complete_and_not_before(name: str) -> None:
    row, ends = byte_by_byte(name), ends_of_events(raw_of(name))
    assert set(row["chunk_ns"]) <= {end + slack for end in ends for slack in (0, -1)}, "CR LF CR is as complete as with its LF"
    assert row["chunk_ns"] == sorted(set(row["chunk_ns"]))


@pytest.mark.parametrize("name", RECORDED)
def test_a_cut_at_any_byte_changes_nothing_but_when_bytes_came(name: str) -> None:
    raw, spoken, slowest = raw_of(name), RECORDED[name].dialect, byte_by_byte(name)
    for cut in range(1, len(raw)):
        row = replay(raw, spoken, [cut])
        assert without_times(row) == without_times(slowest), cut
        assert row["chunk_ns"] == [cut if at <= cut else len(raw) for at in slowest["chunk_ns"]], cut


@settings(max_examples=100)
@given(st.sampled_from(sorted(RECORDED)), st.data())
def test_reads_merged_at_random_change_nothing_but_when_bytes_came(name: str, data: st.DataObject) -> None:
    raw, slowest = raw_of(name), byte_by_byte(name)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(raw) - 1), max_size=30)))
    row = replay(raw, RECORDED[name].dialect, cuts)
    assert without_times(row) == without_times(slowest)
    assert row["chunk_ns"] == [next(cut for cut in [*cuts, len(raw)] if cut >= at) for at in slowest["chunk_ns"]]
    times = [row[each] for each in ("planned_ns", "sent_ns", "first_ns", "last_ns", "end_ns") if row[each] is not None]
    assert times == sorted(times)
