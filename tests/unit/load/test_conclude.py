"""What the replies of a preflight come to, without a server."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from sweep import dialect
from sweep.dialect import SimChunk, Traits
from sweep.dialect.sse import frame
from sweep.load import conclude
from sweep.load.call import Call
from sweep.load.inquiry import Reply
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.model import Calibration, Outcome, Usage

CHAT = dialect.get("chat")
BEGAN_NS = 1_000_000_000


def reply(ttft_s: float = 0.1, usage: Usage | None = None, chunks: Sequence[int] = (1,) * 8, ids: bool = False) -> Reply:
    """An answer of these chunks; where it has ids or a usage that grows, each says how many tokens it holds."""
    call = Call(0, 8, 8, b"{}", Meter(CHAT, Reads()))
    call.sent_ns, at_ns, told = BEGAN_NS, BEGAN_NS + round(ttft_s * 1e9), 0
    for tokens in chunks:
        told += tokens
        event = SimChunk(text="x", tokens=tokens, with_ids=ids)
        call.meter.feed(frame(*CHAT.chunk("r", "m", event)), at_ns)
    for each in CHAT.closing("r", "m", "stop", usage):
        call.meter.feed(frame(*each), at_ns)
    call.settle(call.meter.outcome())
    _, held = call.meter.take()
    return Reply(24, call, tuple(held))


def counted(prompt: int = 20, completion: int = 8, cached: int | None = None) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)


# --- the prompt cache --------------------------------------------------------------------------------------------

KNOWN = Calibration(tokens_per_word=1.1, template_tokens=20.0, source="usage")


@pytest.mark.parametrize(
    ("first", "again", "said"),
    [(0, 0, "off"), (0, 21, "off"), (0, 256, "on"), (300, 300, "off"), (None, 256, "on"), (0, None, None)],
)
def test_a_server_that_says_what_it_cached_is_believed(first: int | None, again: int | None, said: str | None) -> None:
    replies = [reply(usage=counted(cached=each)) for each in (first, again)]
    assert conclude.said_from_cache(*replies, KNOWN) == said


def seems(fresh: Sequence[float], again: Sequence[float]) -> str | None:
    return conclude.seems_from_cache([reply(each) for each in fresh], [reply(each) for each in again])


def test_by_time_alone_every_second_answer_must_be_far_quicker_than_every_first() -> None:
    assert seems([0.2, 0.1], [0.04, 0.045]) == "suspected"
    assert seems([0.9, 0.1], [0.09, 0.1]) == "no sign of it", "a first request that warmed the server up proves nothing"
    assert seems([0.2, 0.1], [0.04, 0.06]) == "no sign of it"
    assert seems([0.008, 0.008], [0.0035, 0.0035]) == "no sign of it", "there was nothing to save"


def test_by_time_alone_nothing_is_known_of_answers_that_did_not_come() -> None:
    late = reply()
    late.call.meter.first_ns = None
    assert conclude.seems_from_cache([reply(), late], [reply(0.01), reply(0.01)]) is None


def test_a_noisy_endpoint_is_rarely_suspected() -> None:
    """Of times that vary by as much as they last, one pair would be suspected in a third of all preflights."""
    source = random.Random(1)
    drawn = [[source.lognormvariate(-3, 0.5) for _ in range(4)] for _ in range(400)]
    alarms = sum(seems(each[:2], each[2:]) == "suspected" for each in drawn)
    single = sum(each[2] < each[0] / 2 for each in drawn)
    assert alarms <= 0.02 * len(drawn) < single / 4


# --- chunks and lengths ------------------------------------------------------------------------------------------


def test_whether_a_chunk_is_a_token() -> None:
    assert conclude.chunk_is_token([reply(usage=counted())]) is True
    assert conclude.chunk_is_token([reply(usage=counted()), reply(usage=counted(completion=9))]) is True, "one may have no text"
    assert conclude.chunk_is_token([reply(usage=counted()), reply(usage=counted(completion=12))]) is False
    assert conclude.chunk_is_token([reply()]) is None


def test_what_a_longer_answer_says_of_its_chunks() -> None:
    plain = conclude.chunks(reply(usage=counted()))
    assert (plain["token_ids"], plain["chunk_is_token"], plain["speculation"]) == (False, True, "no sign of it")
    several = conclude.chunks(reply(chunks=(1, 3, 1, 4, 1), usage=counted(completion=10), ids=True))
    assert (several["token_ids"], several["chunk_is_token"], several["speculation"]) == (True, False, "suspected")
    assert several["tokens_per_chunk"] == 2.0
    silent = conclude.chunks(reply(ids=True))
    assert silent == {"continuous_usage": False, "token_ids": True}


def test_a_field_that_counts_is_kept_where_nothing_else_does() -> None:
    offered = {"continuous_usage": True, "token_ids": True}
    assert conclude.counting_fields({**offered, "chunk_is_token": False}, usage_reported=True) == ("continuous_usage",)
    assert conclude.counting_fields({**offered, "chunk_is_token": True}, usage_reported=True) == ()
    ids = {"continuous_usage": False, "token_ids": True, "chunk_is_token": None}
    assert conclude.counting_fields(ids, usage_reported=False) == ("return_token_ids",)


def test_ids_are_taken_where_as_many_are_counted_or_one_more() -> None:
    assert [conclude.added_to_ids(48, reply(usage=counted(prompt=each))) for each in (47, 48, 49, 50)] == [None, 0, 1, None]
    assert conclude.added_to_ids(48, reply()) is None
    refused = reply(usage=counted(prompt=48))
    refused.call.outcome = Outcome.HTTP_ERROR
    assert conclude.added_to_ids(48, refused) is None


@pytest.mark.parametrize(
    ("fields", "lengths", "kept"),
    [
        (("ignore_eos",), [8, 8], True),
        ((), [8, 8], False),
        (("min_tokens",), [8, 5], False),
        (("ignore_eos",), [None, None], None),
    ],
)
def test_lengths_are_kept_by_a_server_that_was_told_to(
    fields: tuple[str, ...], lengths: list[int | None], kept: bool | None
) -> None:
    assert conclude.keeps_length(Traits(), fields, lengths, 8) is kept


def test_the_least_known_field_is_suspected_first() -> None:
    fields = ("stream_options", "ignore_eos", "min_tokens")
    assert conclude.suspects(fields, "unknown field ignore_eos") == ("ignore_eos",)
    assert conclude.suspects(fields, "no") == ("ignore_eos", "min_tokens")
    assert conclude.suspects(("stream_options",), "no") == ("stream_options",)
