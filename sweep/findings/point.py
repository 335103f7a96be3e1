"""What can be noticed of one point."""

from __future__ import annotations

from sweep.findings.kind import Kind

TURNED_AWAY = "; {busy} {busy:was|were} turned away as too much (429/503), without a Retry-After that would set them apart"

POINT: dict[str, Kind] = {
    "failures": Kind(
        "disqualifies",
        "{share:.1%} of the measured requests failed ({what})",
        "look at the outcomes of this point; lower the load or mend the endpoint, then measure again",
        TURNED_AWAY,
    ),
    "no-success": Kind(
        "disqualifies",
        "no request succeeded ({what})",
        "read the error column of the records; try `sweep` at concurrency 1",
        TURNED_AWAY,
    ),
    "aborted": Kind("disqualifies", "stopped early: {why}", "lower the load or mend the endpoint, then measure again"),
    "overloaded": Kind(
        "disqualifies",
        "{rate:g} requests a second are more than the endpoint serves: ever more of them were waiting",
        "this is its limit with these lengths; offer less, there is nothing to mend",
    ),
    "concurrency": Kind(
        "disqualifies",
        "held {mean:.2f} requests in flight where {asked:g} were asked",
        "see whether the endpoint refuses connections or takes them late, or the client is short of descriptors",
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
        "raise --cap, --budget or --max-tokens",
    ),
    "imprecise": Kind(
        "note",
        "not known as well as asked: {what}; about {seconds:,.0f} s more would do",
        "give it more time: --effort rigorous, a larger --budget, or --duration",
    ),
    "outdone": Kind(
        "note",
        "a smaller load is sure to deliver more, with shorter latencies, so this one was measured for {latencies:.1f} latencies only",
        "nothing to do; --grid or --duration measures it as well as the others",
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
        "the server closes the connection after an answer; each request opens its own",
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
}
