"""`sweep sim`: the simulated endpoint, for people."""

from __future__ import annotations

from typing import Annotated

import typer

ENDPOINT, FAULTS, ENGINE = "Endpoint", "Faults", "Engine"


def sim(
    preset: Annotated[
        str, typer.Option(metavar="NAME", rich_help_panel=ENDPOINT, help="model and accelerators [synthetic-8b-bf16]")
    ] = "synthetic-8b-bf16",
    host: Annotated[str, typer.Option(metavar="HOST", rich_help_panel=ENDPOINT, help="listen on it [127.0.0.1]")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", rich_help_panel=ENDPOINT, help="listen on it [0: a free one]")] = 0,
    api_key: Annotated[
        str | None, typer.Option(metavar="KEY", rich_help_panel=ENDPOINT, help="what clients must present")
    ] = None,
    time_scale: Annotated[
        float, typer.Option(metavar="N", rich_help_panel=ENDPOINT, help="every step takes this much longer [1]")
    ] = 1.0,
    stream_interval: Annotated[int, typer.Option(metavar="N", rich_help_panel=ENDPOINT, help="tokens in a chunk [1]")] = 1,
    truth: Annotated[str | None, typer.Option(metavar="FILE", rich_help_panel=ENDPOINT, help="log the true times here")] = None,
    seed: Annotated[int, typer.Option(metavar="N", rich_help_panel=ENDPOINT, help="of faults, noise and acceptance [0]")] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=SHARE", rich_help_panel=FAULTS, help="for instance truncated=0.05; `help` lists the kinds; repeatable"
        ),
    ] = None,
    stall_s: Annotated[float, typer.Option(metavar="N", rich_help_panel=FAULTS, help="pause of the fault stall [2]")] = 2.0,
    max_num_seqs: Annotated[int, typer.Option(metavar="N", rich_help_panel=ENGINE, help="requests in a batch [512]")] = 512,
    max_batched_tokens: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=ENGINE, help="new tokens in a step [8192]")
    ] = 8192,
    prefix_cache: Annotated[bool, typer.Option("--prefix-cache", rich_help_panel=ENGINE, help="keep prefixes")] = False,
    draft_tokens: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=ENGINE, help="speculative drafts a step [0: none]")
    ] = 0,
    acceptance: Annotated[
        float, typer.Option(metavar="N", rich_help_panel=ENGINE, help="chance that a draft is kept [0.7]")
    ] = 0.7,
    draft_ms: Annotated[float, typer.Option(metavar="N", rich_help_panel=ENGINE, help="cost of drafting a step [0]")] = 0.0,
    disaggregated: Annotated[
        bool, typer.Option("--disaggregated", rich_help_panel=ENGINE, help="prefill and decode on engines of their own")
    ] = False,
    link_gb_per_s: Annotated[float, typer.Option(metavar="N", rich_help_panel=ENGINE, help="link between the two [50]")] = 50.0,
    noise: Annotated[
        float, typer.Option(metavar="N", rich_help_panel=ENGINE, help="sigma of a step's lognormal noise [0]")
    ] = 0.0,
    reasoning: Annotated[
        float, typer.Option(metavar="N", rich_help_panel=ENGINE, help="share of an answer's tokens that reason [0]")
    ] = 0.0,
    unit_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", rich_help_panel=ENGINE, help="tokens that a second of audio or another unit of work weighs"),
    ] = None,
) -> None:
    """Serve the simulated endpoint until Ctrl-C. The first line of output is its URL.

    It speaks every dialect under /v1 and tells the truth about itself at /truth and /metrics. It stands for no real machine.
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
