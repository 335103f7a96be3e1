"""The closed table of findings: what was noticed, how much it weighs, what the user can do next.

One row a finding. A row's `says` is a `Template` over the finding's `data`; terminal, page and file all render from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sweep.model import Finding
from sweep.wording import Template

Weight = Literal["note", "warning", "disqualifies"]


@dataclass(frozen=True, slots=True)
class Kind:
    weight: Weight
    says: str
    advice: str
    further: str = ""  # said too where the finding has all the data for it


TABLE: dict[str, Kind] = {
    "failures": Kind(
        "disqualifies",
        "{share:.1%} of the measured requests failed ({what})",
        "look at the outcomes of this point; lower the load or mend the endpoint, then measure again",
    ),
    "no-success": Kind(
        "disqualifies", "no request succeeded ({what})", "read the error column of the records; try `sweep` at concurrency 1"
    ),
    "aborted": Kind("disqualifies", "stopped early: {why}", "lower the load or mend the endpoint, then `sweep resume`"),
    "overloaded": Kind(
        "disqualifies",
        "{rate:g} requests a second are more than the endpoint serves: ever more of them were waiting",
        "this is its limit with these lengths; offer less, there is nothing to mend",
    ),
    "concurrency": Kind(
        "disqualifies",
        "held {mean:.2f} requests in flight where {asked:g} were asked",
        "see whether the endpoint refuses connections or the client is short of descriptors",
    ),
    "osl-short": Kind(
        "disqualifies",
        "answers had {realised:.0f} tokens where {asked:.0f} were asked, although this server honours the length",
        "look at finish reasons and stop tokens",
    ),
    "osl-free": Kind(
        "note",
        "this server decides the answer's length itself: {realised:.0f} tokens on average where {asked:.0f} were asked",
        "compare only with curves of the same realised lengths",
    ),
    "isl-off": Kind(
        "warning",
        "prompts had {realised:.0f} tokens on average where {asked:.0f} were asked",
        "the server's tokenizer differs from the calibration; compare by realised lengths",
    ),
    "hung": Kind(
        "disqualifies",
        "{count} {count:request was|requests were} still open at {count:its|their} deadline",
        "raise --idle-timeout or look at the endpoint's log",
    ),
    "few": Kind(
        "note",
        "{n} {n:request is|requests are} too few for {what}",
        "ask for more with --requests or --duration",
    ),
    "unresolved": Kind(
        "warning",
        "the window ended after {seconds:.0f} s, before all asked of it was known: {why}",
        "raise --cap or --max-tokens",
    ),
    "imprecise": Kind(
        "note",
        "not known as well as asked: {what}; about {seconds:,.0f} s more would do",
        "give it more time: --effort rigorous, a larger --budget, or --duration",
    ),
    "queued-start": Kind(
        "note",
        "the endpoint queued while the slots opened: {mid_flight} of {slots} began in mid-flight, the others with full requests",
        "at this load the endpoint is saturated; nothing to do",
    ),
    "full": Kind(
        "warning",
        "the endpoint is full at this load: half of the requests waited {waited_s:.1f} s and more, larger prompts {alone_s:.1f} s at first",
        "its TTFT may still be on its way; ask for a --duration of ten latencies, or look at lower loads",
    ),
    "preempting": Kind(
        "disqualifies",
        "{share:.1%} of the answers stood still midway, as where a full memory preempts; {latencies:.1f} latencies are too few",
        "a full endpoint settles in about ten latencies: ask for a --duration as long as that, or look at lower loads",
    ),
    "rate-limited": Kind(
        "warning",
        "{count} {count:request|requests}, {share:.1%}, {count:was|were} refused as over capacity (429/503 with Retry-After)",
        "this is the endpoint's limit, not a fault",
        "; it asks to wait {retry_after_s} s (median; {retry_after_min_s} to {retry_after_max_s} s)",
    ),
    "keep-alive-off": Kind(
        "note",
        "the server closes connections it promised to keep; each request opens its own",
        "connect time is kept apart from TTFT; nothing to do",
    ),
    "retries": Kind(
        "note", "{count} {count:request was|requests were} sent again on a fresh connection", "see `retries` in the records"
    ),
    "token-source": Kind(
        "warning",
        "token counts come from {what}",
        "ask the server for `usage` (stream_options.include_usage) to make token figures comparable",
    ),
    "usage-mismatch": Kind(
        "warning",
        "answers had {usage} output tokens; as their chunks came in, {chunks} were counted",
        "several tokens share a chunk or some have no text; ITL is per token, chunk gaps are kept apart",
    ),
    "first-chunk": Kind(
        "note", "the first chunk held {tokens:.1f} tokens on average", "TPOT keeps its convention and is a little low"
    ),
    "cached": Kind(
        "disqualifies",
        "{share:.0%} of the prompt tokens came from the server's prefix cache",
        "the prompts are unique, so look for a cache shared with other traffic",
    ),
    "user-stamps": Kind(
        "note", "receive times are taken in user space", "run on Linux without uvloop to get the kernel's time stamps"
    ),
    "client-bound": Kind(
        "disqualifies",
        "the client, not the endpoint, shaped this point: {why}",
        "give it more workers (--workers), a faster or quieter machine, or less load",
    ),
    "client-busy": Kind(
        "warning", "the client used {share:.0%} of a core", "give it more workers (--workers) before raising the load"
    ),
    "client-near-limit": Kind(
        "warning",
        "the client took {share:.0%} of the events a second it can sustain",
        "give it more workers (--workers) before raising the load",
    ),
    "worker-lost": Kind(
        "disqualifies",
        "{count} of the client's worker processes died; what {count:it|they} had in flight counts as cut",
        "look for what ended them (memory, signals); the other cells are not affected",
    ),
    "coalesced": Kind(
        "note",
        "{share:.1%} of the reads held several chunks although the client read in time",
        "server or network sends them together; ITL and chunk gaps show that grouping, TTFT and TPOT do not",
    ),
    "drifting": Kind(
        "disqualifies",
        "{what} drifts by {per_minute:+.1%} a minute",
        "let the endpoint settle (temperature, neighbours, caches), then measure longer",
    ),
    "history-dependent": Kind(
        "disqualifies",
        "the halves of the window disagree: {what} changed by {change:+.1%}",
        "the endpoint's state depends on what came before; repeat the cell cold (--repeat) and compare",
    ),
    "clock-step": Kind(
        "disqualifies",
        "the machine's clock was set {count} {count:time|times} while measuring",
        "stop time corrections, then measure again",
    ),
    "littles-law": Kind(
        "warning",
        "{held:.2f} requests in flight do not agree with throughput times latency, {expected:.2f}",
        "the window is short against its slowest request; ask for more with --duration",
    ),
    "speculation": Kind(
        "note",
        "answers come in chunks of varying size, {tokens:.1f} tokens on average, as with speculative decoding",
        "synthetic text changes the acceptance rate: compare only with curves of the same text",
    ),
    "shards-apart": Kind(
        "warning",
        "the shards of this cell were not surely under load at the same time",
        "their rates add up only where all of them were: start them together, for the same --duration",
        "; of one's window {share:.0%} lay within another's time under load",
    ),
    "out-of-range": Kind(
        "warning",
        "{count} {count:duration was|durations were} negative or above an hour and {count:is|are} in no histogram",
        "look at the records",
    ),
    "beyond-selftest": Kind(
        "warning",
        "up to {rate:,.0f} tok/s came in where the self-test of this machine was exact up to {exact:,.0f} only",
        "measure from a bigger or less busy machine, or with --workers, and run `sweep selftest` there",
    ),
    "insecure": Kind("warning", "the endpoint's certificate was not verified", "leave out --insecure"),
    "fields-refused": Kind(
        "note",
        "the server refused {fields}; requests go without",
        "lengths of answers may differ from what was asked",
    ),
    "assumed-calibration": Kind(
        "warning", "the server reports no usage; prompt lengths are estimates", "realised ISL is unknown for this curve"
    ),
    "endpoint-lost": Kind(
        "warning",
        "cells measured again because the endpoint stopped answering: {count}",
        "look at the endpoint's log; a restarted server begins cold",
    ),
    "token-cap": Kind(
        "note",
        "the sweep ended within its limit of {tokens:,} tokens",
        "`sweep resume DIR --max-tokens N` measures the rest; what was spent counts",
        "; {spent:,} were spent",
    ),
    "budget": Kind(
        "note",
        "the budget of {budget_s:.0f} s was spent; not measured: {what}",
        "`sweep resume DIR --budget TIME` measures the rest; what was spent counts",
    ),
    "unconfirmed": Kind(
        "warning",
        "{what} of {load} was {first:.4g}, and {again:.4g} when measured again with fresh prompts",
        "the curve takes their mean; repeat the sweep with --repeat before relying on this point",
    ),
    "partial": Kind("note", "the sweep was interrupted after {done} of its cells", "`sweep resume DIR` goes on"),
    "moved": Kind(
        "warning",
        "{what} at the first load was {first:.4g} at the start and {last:.4g} at the end of the sweep",
        "the endpoint changed meanwhile: measure again, or compare only loads measured close in time",
    ),
    "grid-changed": Kind(
        "note",
        "another grid than the nights before: {new} new, {gone} gone",
        "new loads are judged after {learning} nights; keep the grid fixed with --grid",
    ),
    "nights-missing": Kind(
        "warning",
        "{count} {count:night is|nights are} missing before this one",
        "look at the scheduler's log; gaps are never filled in",
    ),
    "error-jump": Kind(
        "warning",
        "{share:.2%} of the requests failed, {usual:.2%} in the nights before",
        "look at the outcomes of this night's points",
    ),
    "night-disqualified": Kind(
        "warning",
        "disqualified this night: {cells}",
        "the night's own page says why; these loads take no part in the judgement",
    ),
    "system-changed": Kind(
        "note", "{what}: {before} → {after}", "declared or read from the server; a change that begins here may be this"
    ),
    "not-confirmed": Kind("note", "the suspicion of {night} was not confirmed", "that night takes no part in the baseline"),
    "recovered": Kind("note", "back at the level before {night}", "the baseline of before holds again"),
    "remeasured": Kind(
        "note",
        "measured again at once, the suspicion {holds}",
        "the night's noise is shared by what is measured at once: only the next night, or a restart of the server, confirms",
    ),
    "nothing-to-judge": Kind(
        "warning", "no load of this night can be judged", "every point is disqualified, or the loads are new"
    ),
    "canary-same": Kind(
        "note",
        "{asked} fixed prompts at temperature 0 were answered alike, {rounds} {rounds:time|times} over the sweep",
        "nothing to do",
    ),
    "canary-changed": Kind(
        "warning",
        "{count} of {asked} fixed prompts at temperature 0 were answered differently after cell {cell} than before",
        "the model or its settings may have changed; servers whose arithmetic depends on the batch can do so too",
    ),
    "canary-varies": Kind(
        "note",
        "{count} of {asked} fixed prompts at temperature 0 were answered now so, now otherwise",
        "normal where the arithmetic depends on the batch, or where temperature is not heeded",
    ),
    "canary-garbage": Kind(
        "warning",
        "{count} of {asked} fixed prompts were answered with garbage after cell {cell}, and with text before the first",
        "answers degrade under load: look at the endpoint's log before relying on its speed",
    ),
    "one-vertex": Kind(
        "note", "the frontier has one point: more load buys no throughput here", "a valid result; buy latency, not concurrency"
    ),
}


_TEMPLATE = Template()


def weight(finding: Finding) -> Weight:
    return TABLE[finding.code].weight


def says(finding: Finding) -> str:
    kind = TABLE[finding.code]
    known = {name: value for name, value in finding.data.items() if value is not None}
    try:
        further = _TEMPLATE.format(kind.further, **known)
    except KeyError:
        further = ""
    return _TEMPLATE.format(kind.says, **finding.data) + further


def advice(finding: Finding) -> str:
    return TABLE[finding.code].advice
