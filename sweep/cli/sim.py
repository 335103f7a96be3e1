"""`sweep sim`: the simulated endpoint, for people."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.options import ENDPOINT, Panel, Seed, Texts
from sweep.cli.values import decimal, whole

FAULTS, ENGINE = Panel("Faults"), Panel("Engine")
_FAULT = "for instance truncated=0.05; `help` lists the kinds; repeatable"
_UNIT = "tokens that a second of audio or another unit of work weighs"


def sim(
    preset: Annotated[str, ENDPOINT("--preset NAME", "model and accelerators [synthetic-8b-bf16]")] = "synthetic-8b-bf16",
    host: Annotated[str, ENDPOINT("--host HOST", "listen on it [127.0.0.1]")] = "127.0.0.1",
    port: Annotated[int, ENDPOINT("--port N", "listen on it [0: a free one]", whole())] = 0,
    api_key: Annotated[str | None, ENDPOINT("--api-key KEY", "what clients must present")] = None,
    time_scale: Annotated[float, ENDPOINT("--time-scale N", "every step takes this much longer [1]", decimal())] = 1.0,
    stream_interval: Annotated[int, ENDPOINT("--stream-interval N", "tokens in a chunk [1]", whole())] = 1,
    truth: Annotated[str | None, ENDPOINT("--truth FILE", "log the true times here")] = None,
    fault: Annotated[Texts, FAULTS("--fault KIND=SHARE", _FAULT)] = None,
    stall_s: Annotated[float, FAULTS("--stall-s N", "pause of the fault stall [2]", decimal())] = 2.0,
    max_num_seqs: Annotated[int, ENGINE("--max-num-seqs N", "requests in a batch [512]", whole())] = 512,
    max_batched_tokens: Annotated[int, ENGINE("--max-batched-tokens N", "new tokens in a step [8192]", whole())] = 8192,
    prefix_cache: Annotated[bool, ENGINE("--prefix-cache", "keep prefixes")] = False,
    draft_tokens: Annotated[int, ENGINE("--draft-tokens N", "speculative drafts a step [0: none]", whole())] = 0,
    acceptance: Annotated[float, ENGINE("--acceptance N", "chance that a draft is kept [0.7]", decimal())] = 0.7,
    draft_ms: Annotated[float, ENGINE("--draft-ms N", "cost of drafting a step [0]", decimal())] = 0.0,
    disaggregated: Annotated[bool, ENGINE("--disaggregated", "prefill and decode on engines of their own")] = False,
    link_gb_per_s: Annotated[float, ENGINE("--link-gb-per-s N", "link between the two [50]", decimal())] = 50.0,
    noise: Annotated[float, ENGINE("--noise N", "sigma of a step's lognormal noise [0]", decimal())] = 0.0,
    reasoning: Annotated[float, ENGINE("--reasoning N", "share of an answer's tokens that reason [0]", decimal())] = 0.0,
    unit_tokens: Annotated[int | None, ENGINE("--unit-tokens N", _UNIT, whole())] = None,
    seed: Seed = 0,
) -> None:
    """Serve the simulated endpoint.

    Until Ctrl-C; the first line of output is its URL. It speaks every dialect under /v1 and tells the truth about itself at /truth and /metrics. It stands for no real machine.

        sweep sim --port 8000 --fault truncated=0.05
    """
    from sweep.sim import faults
    from sweep.sim.options import Options
    from sweep.sim.server import serve

    if fault == ["help"]:
        for kind, says in faults.KINDS.items():
            print(f"{kind:16} {says}")
        return
    options = Options(
        preset=preset,
        host=host,
        port=port,
        faults=tuple(fault or ()),
        api_key=api_key,
        time_scale=time_scale,
        stream_interval=stream_interval,
        truth=truth,
        seed=seed,
        max_num_seqs=max_num_seqs,
        max_batched_tokens=max_batched_tokens,
        prefix_cache=prefix_cache,
        draft_tokens=draft_tokens,
        acceptance=acceptance,
        draft_ms=draft_ms,
        disaggregated=disaggregated,
        link_gb_per_s=link_gb_per_s,
        noise=noise,
        reasoning=reasoning,
        unit_tokens=unit_tokens,
        stall_s=stall_s,
    )
    options.check()
    serve(options, lambda url: print(url, flush=True))
