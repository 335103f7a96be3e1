"""`sweep run`, or just `sweep`: measure an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Measure"
PLACE = 10

WHAT, LOAD, WHERE, HOW = "What to measure", "Load", "Where results go", "How"
Texts = list[str] | None


def run(
    endpoint: Annotated[
        Texts,
        typer.Option(
            metavar="URL", rich_help_panel=WHAT, help="the API, with or without /v1; or sim, sim:PRESET for the embedded one"
        ),
    ] = None,
    profile: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            rich_help_panel=WHAT,
            help="workload: a name, a TOML file, or ISL/OSL like 1k/8k [1k-1k]; repeatable, one curve each",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", rich_help_panel=WHAT, help="which model, where several are served")
    ] = None,
    slo: Annotated[
        Texts,
        typer.Option(
            metavar="SLO",
            rich_help_panel=WHAT,
            help="a preset, or bounds like ttft_p99<=450ms,tpot_p99<=40ms or e2e<=10s; repeatable",
        ),
    ] = None,
    header: Annotated[
        Texts,
        typer.Option(
            metavar="'NAME: VALUE'",
            rich_help_panel=WHAT,
            help="header to send; repeatable. A key may also be in SWEEP_API_KEY or OPENAI_API_KEY",
        ),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="1,2,4", rich_help_panel=LOAD, help="concurrencies, in this order [doubling until throughput stops rising]"
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="0.5,1,2", rich_help_panel=LOAD, help="arrivals a second instead of concurrencies (open loop)"),
    ] = None,
    max_concurrency: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=LOAD, help="doubling ends here at the latest [512]")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="30s", rich_help_panel=LOAD, help="measured window of a cell [long enough, at least 20s]"),
    ] = None,
    requests: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=LOAD, help="requests measured in a cell, at least")
    ] = None,
    effort: Annotated[
        str,
        typer.Option(metavar="HOW", rich_help_panel=LOAD, help="intervals: quick, standard or rigorous [standard]"),
    ] = "standard",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="20m",
            rich_help_panel=LOAD,
            help="endpoint time for all cells [twice the doubling's]",
        ),
    ] = None,
    max_tokens: Annotated[
        str | None,
        typer.Option(metavar="5M", rich_help_panel=LOAD, help="end the sweep when this many tokens were sent and received"),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", rich_help_panel=WHERE, help="parent folder [reports]")] = Path("reports"),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", rich_help_panel=WHERE, help="name of folder and files [MODEL-PROFILE-TIME]")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", rich_help_panel=WHERE, help="the curve on stdout, progress on stderr")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", rich_help_panel=HOW, help="show the plan and stop")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", rich_help_panel=HOW, help="do not ask before an expensive plan")] = False,
    seed: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="of lengths, texts and arrivals [0]")] = 0,
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, hidden=True, rich_help_panel=LOAD, help="measure every load N times [1]")
    ] = 1,
    cold_start: Annotated[
        bool,
        typer.Option(
            "--cold-start", hidden=True, rich_help_panel=LOAD, help="all slots start at once instead of in mid-flight"
        ),
    ] = False,
    arrivals: Annotated[
        str, typer.Option(metavar="KIND", hidden=True, rich_help_panel=LOAD, help="with --rate: poisson or constant [poisson]")
    ] = "poisson",
    cap: Annotated[
        str | None,
        typer.Option(metavar="10m", hidden=True, rich_help_panel=LOAD, help="longest time for a cell [10m, virtual 24h]"),
    ] = None,
    idle_timeout: Annotated[
        str | None,
        typer.Option(
            metavar="60s",
            hidden=True,
            rich_help_panel=LOAD,
            help="a request without a byte for so long has failed [from the workload, at least 60s]",
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            hidden=True,
            rich_help_panel=WHAT,
            help="how the API is spoken: chat, completions, … [as the profile says]",
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            hidden=True,
            rich_help_panel=WHAT,
            help="prompts to cut from (JSON lines, ShareGPT JSON) or lengths (CSV: isl, osl) in place of the profile's",
        ),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            hidden=True,
            rich_help_panel=WHAT,
            help="tokenizer.json, to count answers the endpoint does not count",
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", hidden=True, rich_help_panel=WHAT, help="do not verify the certificate; recorded")
    ] = False,
    describe: Annotated[
        Path | None,
        typer.Option(metavar="FILE", hidden=True, rich_help_panel=WHAT, help="TOML that declares software, hardware and price"),
    ] = None,
    set_: Annotated[
        Texts,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            hidden=True,
            rich_help_panel=WHAT,
            help="declare one fact, e.g. hardware.accelerator_count=8; repeatable",
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            hidden=True,
            rich_help_panel=WHAT,
            help="attach what `sweep selftest --json` said on this machine",
        ),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            hidden=True,
            rich_help_panel=WHERE,
            help="add the curve to this history and judge it, as `sweep regress DIR` does; exit 1 on a confirmed regression",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", hidden=True, rich_help_panel=WHERE, help="with --gate: JUnit XML")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", hidden=True, rich_help_panel=WHERE, help="with --gate: Markdown, appended")
    ] = None,
    keep_chunks: Annotated[
        bool, typer.Option("--keep-chunks", hidden=True, rich_help_panel=WHERE, help="keep every chunk's time in the records")
    ] = False,
    workers: Annotated[
        str,
        typer.Option(
            metavar="N", hidden=True, rich_help_panel=HOW, help="client processes [auto: by the plan's expected pace]"
        ),
    ] = "auto",
    no_canary: Annotated[
        bool,
        typer.Option(
            "--no-canary",
            hidden=True,
            rich_help_panel=HOW,
            help="ask no fixed prompts between cells to see whether answers change",
        ),
    ] = False,
    interleave: Annotated[
        bool,
        typer.Option(
            "--interleave",
            hidden=True,
            rich_help_panel=HOW,
            help="two --endpoint, A and B, measured in alternation; --header 'A=NAME: VALUE', --model A=ID,B=ID",
        ),
    ] = False,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual",
            hidden=True,
            rich_help_panel=HOW,
            help="simulated endpoint in simulated time: seconds instead of minutes",
        ),
    ] = False,
) -> int:
    """Measure an endpoint over a grid of loads.

    Writes one curve file a profile, with figure, page and records, in reports/NAME/. `run` may be left out.
    """
    from sweep.cli.nightly import Outputs, tonight
    from sweep.cli.screen import watching
    from sweep.cli.turns import one, taking_turns
    from sweep.cli.values import arrival_kind, count, diligence, duration_s, require_endpoint, worker_count
    from sweep.run import Settings
    from sweep.run import interleave as measure

    settings = Settings(
        endpoint=require_endpoint(one(endpoint, interleave)),
        profiles=tuple(profile or ("1k-1k",)),
        model=model,
        dialect=dialect,
        slos=tuple(slo or ()),
        grid=grid,
        rate=rate,
        kind=arrival_kind(arrivals) if rate else "closed",
        duration_s=duration_s(duration, "--duration"),
        requests=requests,
        start="cold" if cold_start else None,
        repeats=repeat,
        effort=diligence(effort),
        budget_s=duration_s(budget, "--budget"),
        cap_s=duration_s(cap, "--cap"),
        idle_timeout_s=duration_s(idle_timeout, "--idle-timeout"),
        max_concurrency=max_concurrency,
        max_tokens=count(max_tokens, "--max-tokens"),
        seed=seed,
        workers=worker_count(workers),
        headers=tuple(header or ()),
        dataset=dataset,
        tokenizer=tokenizer,
        insecure=insecure,
        describe=describe,
        calibration=calibration,
        declared=tuple(set_ or ()),
        out=out,
        name=name,
        keep_chunks=keep_chunks,
        dry_run=dry_run,
        virtual=virtual,
        canary=not no_canary,
    )
    with watching(json=json, yes=yes or dry_run, plan_only=dry_run) as watch:
        curves = measure(taking_turns(settings, endpoint or ()) if interleave else [settings], watch)
    return tonight(curves, gate, Outputs(pages=gate, junit=junit, summary=summary)) if gate and curves else 0
