"""What preflight learned of an endpoint, for a person: one line a fact, and what was not found out said as such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sweep.model import Endpoint
from sweep.report import quantity
from sweep.report.facts import fact_text
from sweep.report.foreign import harmless
from sweep.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

UNKNOWN = "unknown"
SOFTWARE = ("precision", "parallelism", "speculative_decoding", "flags", "about_model")


def rows(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """(what, answer)."""
    facts = endpoint.facts
    yield "endpoint", endpoint.url + (", the embedded one" if endpoint.simulated else "")
    yield "model", endpoint.model
    yield "server", _server(endpoint)
    for key in SOFTWARE:
        if facts.get(key):
            yield key.replace("_", " "), fact_text(facts[key])
    yield "dialect", f"{endpoint.dialect}, {'streamed' if facts.get('streaming') else 'in one piece'}"
    yield "connection", _connection(endpoint)
    yield "round trip", quantity.seconds(endpoint.rtt_s)
    yield "alone", f"TTFT {quantity.seconds(endpoint.ttft_s)}, TPOT {quantity.seconds(endpoint.tpot_s)}"
    yield "context", _limits(endpoint)
    yield "answer's length", _said(endpoint.osl_honoured, "as asked", "the server's own")
    yield "fields", _fields(endpoint)
    yield "token counts", _counts(endpoint)
    yield "a chunk is a token", _chunks(facts)
    if facts.get("streaming"):
        yield "first event", _said(facts.get("empty_delta_first"), "an empty delta, which is no token", "the first token")
    yield "reasoning", _said(facts.get("reasoning"), "in a channel of its own", "none seen")
    yield "prompt", _prompt(endpoint)
    yield "prompt cache", facts.get("prompt_cache") or UNKNOWN
    yield "speculation", facts.get("speculation") or UNKNOWN
    yield "compression", "none" if facts.get("compression", "identity") == "identity" else facts["compression"]
    yield "asked", counted(endpoint.probes, "request")


def show(console: Console, endpoint: Endpoint) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for what, answer in rows(harmless(endpoint)):
        grid.add_row(Text(what, style="bold"), Text(answer, style="dim" if answer == UNKNOWN else ""))
    console.print(grid)


def _said(known: bool | None, yes: str, no: str) -> str:
    return UNKNOWN if known is None else yes if known else no


def _server(endpoint: Endpoint) -> str:
    """Name and version; many a server names itself with its version."""
    name, version = endpoint.server or "", endpoint.version or ""
    return " ".join(part for part in (name, version) if part and part not in name.partition("/")[2]) or UNKNOWN


def _connection(endpoint: Endpoint) -> str:
    parts = ["kept between requests" if endpoint.keep_alive else "closed by the server after each answer"]
    if endpoint.proxy or endpoint.facts.get("via"):
        parts.append(f"through {endpoint.proxy or endpoint.facts['via']}")
    if endpoint.verified_tls is not None:
        parts.append("certificate verified" if endpoint.verified_tls else "certificate not verified")
    return ", ".join(parts)


def _limits(endpoint: Endpoint) -> str:
    limits = {
        "in all": endpoint.context_tokens,
        "of prompt": endpoint.facts.get("input_tokens_limit"),
        "of answer": endpoint.facts.get("output_tokens_limit"),
    }
    return ", ".join(f"{count:,} tokens {what}" for what, count in limits.items() if count) or UNKNOWN


def _fields(endpoint: Endpoint) -> str:
    refused = endpoint.facts.get("fields_refused")
    text = ", ".join(endpoint.fields) or "none beyond the standard"
    return f"{text}; refused: {', '.join(refused)}" if refused else text


def _counts(endpoint: Endpoint) -> str:
    ways = {
        "usage": endpoint.usage_reported,
        "usage in every chunk": endpoint.facts.get("continuous_usage"),
        "token ids": endpoint.facts.get("token_ids"),
        "/tokenize": endpoint.facts.get("tokenize"),
    }
    return ", ".join(way for way, offered in ways.items() if offered) or "none: chunks are counted"


def _chunks(facts: dict[str, Any]) -> str:
    per_chunk = facts.get("tokens_per_chunk")
    said = _said(facts.get("chunk_is_token"), "yes", "no")
    return said if per_chunk is None else f"{said}, {per_chunk:.3g} a chunk"


def _prompt(endpoint: Endpoint) -> str:
    known = endpoint.calibration
    if known.source == "assumed":
        return "length unknown: no usage, no tokenizer"
    if endpoint.takes_ids:
        return "exact: token ids" + (", the server puts one before them" if known.template_tokens else "")
    template = "" if known.source == "tokenizer" else f"template of {known.template_tokens:.0f} tokens, "
    return f"{template}{known.tokens_per_word:.3f} tokens a word"
