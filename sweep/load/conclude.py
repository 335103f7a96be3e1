"""What the replies and documents of a preflight come to. Pure: whatever was not asked or not answered is simply not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from sweep.dialect import Traits
from sweep.errors import ModelError
from sweep.load import identity
from sweep.load.client import Target
from sweep.load.inquiry import Reply
from sweep.model import Calibration, TokenSource

COUNTING = ("continuous_usage", "return_token_ids")  # fields of the chat and completions dialects, the better first
SEVERAL = 1.2  # tokens a chunk from which on more than one is meant
HIDDEN = 0.1  # share of an answer's tokens without a chunk of their own from which on they are counted otherwise
CACHED = 0.5  # of a prompt's first time: below it the second was not computed anew
CACHED_S = 0.005  # and quicker by that much, or there was nothing to save
LIMITS = {"input_tokens_limit": identity.INPUT_KEYS, "output_tokens_limit": identity.OUTPUT_KEYS}

Facts = dict[str, Any]


def model_of(target: Target, listed: list[dict[str, Any]] | None, status: int = 200) -> tuple[str, dict[str, Any]]:
    """(which model is meant, what the server's list, which came with `status`, says of it). ModelError where that is not clear."""
    named = {identity.name_of(entry): entry for entry in listed or ()}
    if target.model is not None:
        return target.model, named.get(target.model, {})
    if len(named) == 1:
        return next(iter(named.items()))
    if not named:
        told = "" if status == 200 else f" (HTTP {status})"
        raise ModelError(f"{target.url}/models names no model{told}", "say which one with --model NAME")
    shown = ", ".join(list(named)[:20]) + (", …" if len(named) > 20 else "")
    raise ModelError(f"the endpoint serves {len(named)} models: {shown}", "choose one with --model NAME")


def suspects(fields: tuple[str, ...], refusal: str) -> tuple[str, ...]:
    """Which of the optional fields to leave out: those named; else the least known first."""
    named = tuple(name for name in fields if name in refusal)
    return named or tuple(name for name in fields if name != "stream_options") or fields


def keeps_length(traits: Traits, fields: Iterable[str], lengths: Sequence[int | None], osl: int) -> bool | None:
    """Whether this server can be made to answer with as many tokens as asked: it did, and takes a field that demands it.

    Without one a longer answer may end where the model likes, even if the probes' short ones were as long as allowed.
    """
    if lengths[0] is None:
        return None
    demands = {"ignore_eos", "min_tokens"} & {*fields} if not traits.skips_unknown else set()
    return (traits.unit != "tokens" or bool(demands)) and all(length == osl for length in lengths)


# --- what is in a chunk ------------------------------------------------------------------------------------------


def chunk_is_token(replies: Iterable[Reply]) -> bool | None:
    """Whether every token came in a chunk of its own, as far as the server counts them."""
    answers = [reply for reply in replies if reply.completion_tokens and reply.call.meter.chunks]
    if not answers:
        return None
    return not any(_hidden(reply) > max(1, HIDDEN * (reply.completion_tokens or 0)) for reply in answers)


def chunks(reply: Reply) -> Facts:
    """What an answer says of its chunks that was asked for all of `COUNTING`."""
    meter, tokens = reply.call.meter, reply.completion_tokens
    facts: Facts = {
        "continuous_usage": reply.ok and meter.source is TokenSource.CONTINUOUS_USAGE,
        "token_ids": reply.ok and meter.ids > 0,
    }
    if not reply.ok or not tokens:
        return facts
    if meter.source is not TokenSource.CHUNKS:
        varies = _varies(reply.chunk_tokens[:-1])
    else:
        varies = tokens > SEVERAL * max(1, meter.chunks)
    return facts | {
        "tokens_per_chunk": round(tokens / meter.chunks, 3) if meter.chunks else None,
        "chunk_is_token": chunk_is_token([reply]) or False,
        "speculation": "suspected" if varies else "no sign of it",
    }


def counting_fields(facts: Mapping[str, Any], usage_reported: bool) -> tuple[str, ...]:
    """The field by which the server says how many tokens a chunk holds, where only that can tell."""
    if usage_reported and facts["chunk_is_token"] is not False:
        return ()
    return tuple(name for name, fact in zip(COUNTING, ("continuous_usage", "token_ids"), strict=True) if facts[fact])[:1]


def _hidden(reply: Reply) -> int:
    """Tokens of an answer that came without a chunk of their own."""
    return (reply.completion_tokens or 0) - reply.call.meter.chunks


def _varies(chunk_tokens: Sequence[int]) -> bool:
    """Several tokens a chunk, now more, now fewer; the last chunk, which holds what is left, is not among them."""
    return bool(chunk_tokens) and fmean(chunk_tokens) > 1.05 and pstdev(chunk_tokens) > 0.1 * fmean(chunk_tokens)


# --- prompts -----------------------------------------------------------------------------------------------------


def added_to_ids(sent: int, reply: Reply) -> int | None:
    """How many tokens, one at most, the server put before a prompt of so many ids; None where it did not take them as they are."""
    counted = reply.prompt_tokens if reply.ok else None
    return counted - sent if counted is not None and counted - sent in (0, 1) else None


def said_from_cache(first: Reply, again: Reply, calibration: Calibration) -> str | None:
    """Whether the server says that it had the same prompt already; None where it does not say."""
    if again.cached_tokens is None:
        return None
    return "on" if again.cached_tokens > max(calibration.template_tokens, first.cached_tokens or 0) + 1 else "off"


def seems_from_cache(fresh: Sequence[Reply], again: Sequence[Reply]) -> str | None:
    """The same by time alone: every second time was far quicker than every first, which chance does not do often."""
    first, second = [reply.ttft_s for reply in fresh], [reply.ttft_s for reply in again]
    known, later = [each for each in first if each is not None], [each for each in second if each is not None]
    if len(known) < 2 or len(later) < 2:
        return None
    return "suspected" if max(later) < CACHED * min(known) and min(known) - max(later) > CACHED_S else "no sign of it"


# --- everything else ---------------------------------------------------------------------------------------------


def told(traits: Traits, spoken: Sequence[Reply], documents: Sequence[Mapping[str, Any]]) -> Facts:
    """What the answers and documents at hand say without being asked."""
    call = spoken[0].call
    meter, headers = call.meter, call.headers
    reasoning = [reply.call.meter.usage.reasoning_tokens for reply in spoken if reply.call.meter.usage]
    facts: Facts = {
        "answer_status": call.status,
        "streaming": traits.streams and (meter.chunks > 1 or meter.done),
        "done_mark": meter.done,
        "finish": meter.finish,
        "chunks": meter.chunks,
        "osl_reported": [reply.completion_tokens for reply in spoken],
        "empty_delta_first": meter.prelude_ns is not None,
        "first_answer_apart": meter.answer_ns != meter.first_ns,
        "reasoning": meter.answer_ns != meter.first_ns or any(reasoning),
        "cached_tokens": [reply.cached_tokens for reply in spoken if reply.call.meter.usage],
        "compression": headers.get("content-encoding", "identity")[:20],
        **identity.software(documents),
    }
    about = identity.kept(documents[0], identity.MODEL_KEYS)
    said = {name: identity.limit(documents, keys) for name, keys in LIMITS.items()}
    facts |= {"about_model": about} if about else {}
    facts |= {name: found for name, found in said.items() if found is not None}
    if "via" in headers:
        facts["via"] = identity.plain(headers["via"])
    return facts


def least(figures: Iterable[float | None]) -> float | None:
    return min((figure for figure in figures if figure is not None), default=None)
