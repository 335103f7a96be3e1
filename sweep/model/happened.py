"""What happened under load: how requests end, and what the client observed of itself."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from sweep.model.noun import Noun


class Outcome(StrEnum):
    """Every request ends in exactly one."""

    OK = "ok"
    HTTP_ERROR = "http_error"
    RATE_LIMITED = "rate_limited"
    CONNECT = "connect"
    TIMEOUT_IDLE = "timeout_idle"
    TIMEOUT_DEADLINE = "timeout_deadline"
    TRUNCATED = "truncated"
    STREAM_ERROR = "stream_error"
    MALFORMED = "malformed"
    EMPTY = "empty"
    WRONG_LENGTH = "wrong_length"
    CUT = "cut"
    UNSENT = "unsent"


def failures(outcomes: Mapping[str, int], overloaded: bool) -> dict[str, int]:
    """Those that are the endpoint's failures: a refusal is its capacity, and what was cut because it was `overloaded` is ours."""
    none = {Outcome.OK, Outcome.RATE_LIMITED} | ({Outcome.CUT} if overloaded else set())
    return {name: count for name, count in outcomes.items() if name not in none}


class TokenSource(StrEnum):
    """Where a request's token counts come from, best first."""

    USAGE = "usage"
    CONTINUOUS_USAGE = "continuous_usage"
    TOKEN_IDS = "token_ids"
    TOKENIZE = "tokenize"  # the server's tokenizer, asked for the answer's text afterwards
    TOKENIZER = "tokenizer"  # a tokenizer.json given to the client
    CHUNKS = "chunks"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    WARMUP = "warmup"
    MEASURED = "measured"
    FILLER = "filler"


class Health(Noun, frozen=True, kw_only=True):
    """What the client observed of itself in one cell; judged only by `measure/validity.py`."""

    stamp_source: Literal["kernel", "user"]
    stamped_share: float | None = None
    events_per_read_p99: float | None = None
    merged_read_share: float | None = None  # reads that held more than one event
    late_read_share: float | None = None  # those among them that the client may have merged itself by coming late
    refill_delay_p99_s: float | None = None
    send_lateness_p50_s: float | None = None
    send_lateness_p99_s: float | None = None
    send_lateness_max_s: float | None = None
    loop_lag_p50_s: float | None = None
    loop_lag_p99_s: float | None = None
    loop_lag_max_s: float | None = None
    cpu_share: float | None = None
    steal_share: float | None = None
    gc_passes: int | None = None
    clock_steps: int | None = None
    connections: int | None = None
    keep_alive: bool | None = None
    read_bytes_max: int | None = None
    workers: int = 1
    workers_lost: int = 0  # those that died in this cell
    calibrated_share: float | None = None  # events/s against what a worker sustains; None where that was not measured


class Live(Noun, frozen=True, kw_only=True):
    """What a person watching a running cell wants to know."""

    elapsed_s: float
    left_s: float | None  # None while unknown
    ended: int
    failed: int
    refused: int = 0  # for want of capacity; not among the failed
    in_flight: int
    output_tok_per_s: float | None
    ttft_p50_s: float | None
    stage: Literal["start", "window", "tail"]
