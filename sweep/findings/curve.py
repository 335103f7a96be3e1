"""What can be noticed of a curve as a whole, and of the endpoint behind it."""

from __future__ import annotations

from sweep.findings.kind import Kind

CURVE: dict[str, Kind] = {
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
        "warning",
        "preflight did not learn how many tokens its prompts have; prompt lengths are estimates",
        "where the server reports usage, compare by realised lengths; else realised ISL is unknown",
    ),
    "endpoint-lost": Kind(
        "warning",
        "cells measured again because the endpoint stopped answering: {count}",
        "look at the endpoint's log; a restarted server begins cold",
    ),
    "token-cap": Kind(
        "note",
        "the sweep ended within its limit of {tokens:,} tokens",
        "`sweep resume --max-tokens N` with this run's folder measures the rest; what was spent counts",
        "; {spent:,} were spent",
    ),
    "budget": Kind(
        "note",
        "the budget of {budget_s:.0f} s holds no more cells; not measured: {what}",
        "`sweep resume --budget TIME` with this run's folder measures the rest; what was spent counts",
    ),
    "unconfirmed": Kind(
        "warning",
        "{what} of {load} was {first:.4g}, and {again:.4g} when measured again with fresh prompts",
        "the curve takes their mean; repeat the sweep with --repeat before relying on this point",
    ),
    "partial": Kind("note", "the sweep ended after {done} of its cells", "`sweep resume` with this run's folder goes on"),
    "moved": Kind(
        "warning",
        "{what} at the first load was {first:.4g} at the start and {last:.4g} at the end of the sweep",
        "the endpoint changed meanwhile: measure again, or compare only loads measured close in time",
    ),
    "canary-same": Kind(
        "note",
        "{asked} fixed prompts at temperature 0 were answered alike, {rounds} {rounds:time|times} over the sweep",
        "nothing to do",
    ),
    "canary-unread": Kind(
        "note",
        "none of {asked} fixed prompts at temperature 0 brought text that could be compared",
        "whether answers changed over the sweep is not known; see whether a request without `stream` is answered soon",
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
