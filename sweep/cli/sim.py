"""`sweep sim`: the simulated endpoint, for people."""

from __future__ import annotations

from typing import Annotated

import typer

ADD_ONS = "Add-ons"
FAULTS = "Faults"


def sim(
    preset: Annotated[str, typer.Option(help="Which endpoint (synthetic-8b-bf16).", show_default=False)] = "synthetic-8b-bf16",
    host: Annotated[str, typer.Option(help="Listen on (127.0.0.1).", show_default=False)] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 0,
    api_key: Annotated[str | None, typer.Option(help="Key that clients must present.")] = None,
    time_scale: Annotated[float, typer.Option(help="Makes every step this much longer.")] = 1.0,
    stream_interval: Annotated[int, typer.Option(help="Tokens in a chunk.")] = 1,
    truth: Annotated[str | None, typer.Option(help="Log true times to this file.")] = None,
    seed: Annotated[int, typer.Option(help="Of faults, noise and acceptance.")] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="KIND=SHARE, as truncated=0.05; help lists.", rich_help_panel=FAULTS),
    ] = None,
    stall_s: Annotated[
        float, typer.Option(help="Pause of the fault stall (2).", rich_help_panel=FAULTS, show_default=False)
    ] = 2.0,
    max_num_seqs: Annotated[
        int, typer.Option(help="Requests in a batch (512).", rich_help_panel=ADD_ONS, show_default=False)
    ] = 512,
    max_batched_tokens: Annotated[
        int, typer.Option(help="New tokens in a step (8192).", rich_help_panel=ADD_ONS, show_default=False)
    ] = 8192,
    prefix_cache: Annotated[
        bool, typer.Option("--prefix-cache", help="Keep prefixes.", rich_help_panel=ADD_ONS, show_default=False)
    ] = False,
    draft_tokens: Annotated[
        int, typer.Option(help="Speculative drafts per step.", rich_help_panel=ADD_ONS, show_default=False)
    ] = 0,
    acceptance: Annotated[
        float, typer.Option(help="Chance a draft is kept (0.7).", rich_help_panel=ADD_ONS, show_default=False)
    ] = 0.7,
    draft_ms: Annotated[
        float, typer.Option(help="Cost of drafting per step.", rich_help_panel=ADD_ONS, show_default=False)
    ] = 0.0,
    disaggregated: Annotated[
        bool, typer.Option("--disaggregated", help="Prefill and decode apart.", rich_help_panel=ADD_ONS, show_default=False)
    ] = False,
    link_gb_per_s: Annotated[
        float, typer.Option(help="Link between them (50).", rich_help_panel=ADD_ONS, show_default=False)
    ] = 50.0,
    noise: Annotated[
        float, typer.Option(help="Sigma of lognormal step noise.", rich_help_panel=ADD_ONS, show_default=False)
    ] = 0.0,
    reasoning: Annotated[
        float, typer.Option(help="Share of tokens that reason.", rich_help_panel=ADD_ONS, show_default=False)
    ] = 0.0,
    unit_tokens: Annotated[
        int | None, typer.Option(help="What an audio second or other unit weighs.", rich_help_panel=ADD_ONS)
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
