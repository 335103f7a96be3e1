"""`sweep run`, or just `sweep`: measure an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from sweep.cli import options, values
from sweep.cli.options import DECLARE, ENDPOINT, HOW, JUDGE, LOAD, OUTPUT, WORKLOAD, Texts
from sweep.cli.values import auto_or, one_of, seconds, whole

if TYPE_CHECKING:
    from sweep.model import Curve

PANEL = "Measure"
PLACE = 10

_PROFILE = "a name, a TOML file, or ISL/OSL like 1k/8k [1k-1k]; repeatable, one curve each"
_DATASET = (
    "prompts to cut from (JSON lines, ShareGPT JSON), pairs of lengths (isl, osl; CSV too), or both in place of the profile's"
)
_TOKENIZER = "tokenizer.json, to count answers the endpoint does not count"
_GRID = "concurrencies, in this order [doubling until throughput stops rising]"
_IDLE = "a request without a byte for so long has failed [from the workload, at least 60s]"
_GATE = "add the curve to this history and judge it, as `sweep regress DIR` does; exit 1 on a confirmed regression"
_CALIBRATION = "attach what `sweep selftest --json` said on this machine"
_CANARY = "ask no fixed prompts between cells to see whether answers change"
_INTERLEAVE = "two --endpoint, A and B, measured in alternation; --header 'A=NAME: VALUE', --model A=ID,B=ID"
_VIRTUAL = "simulated endpoint in simulated time: seconds instead of minutes"
Arrivals = Literal["poisson", "constant"]
Effort = Literal["quick", "standard", "rigorous"]


def run(
    endpoint: Annotated[Texts, ENDPOINT("--endpoint URL", options.URL)] = None,
    model: options.Model = None,
    header: options.Header = None,
    dialect: options.Dialect = None,
    insecure: options.Insecure = False,
    profile: Annotated[Texts, WORKLOAD("--profile NAME", _PROFILE)] = None,
    dataset: Annotated[Path | None, WORKLOAD.rare("--dataset FILE", _DATASET)] = None,
    tokenizer: Annotated[Path | None, WORKLOAD.rare("--tokenizer FILE", _TOKENIZER)] = None,
    body: options.Body = None,
    grid: Annotated[str | None, LOAD("--grid 1,2,4", _GRID)] = None,
    rate: Annotated[str | None, LOAD("--rate 0.5,1,2", "arrivals a second instead of concurrencies (open loop)")] = None,
    arrivals: Annotated[
        Arrivals | None, LOAD.rare("--arrivals KIND", "with --rate: poisson or constant [poisson]", one_of(Arrivals))
    ] = None,
    max_concurrency: Annotated[
        int | None, LOAD.rare("--max-concurrency N", "doubling ends here at the latest [512]", whole(1, 65_535))
    ] = None,
    duration: Annotated[
        float | None, LOAD("--duration 30s", "measured window of a cell [long enough, at least 20s]", seconds)
    ] = None,
    requests: Annotated[int | None, LOAD("--requests N", "requests measured in a cell, at least", whole(1, 10_000_000))] = None,
    effort: Annotated[
        Effort,
        LOAD("--effort HOW", "intervals: quick, standard or rigorous [standard]", one_of(Effort)),
    ] = "standard",
    budget: options.Budget = None,
    max_tokens: options.MaxTokens = None,
    repeat: Annotated[int, LOAD.rare("--repeat N", "measure every load N times [1]", whole(1, 1000))] = 1,
    cold_start: Annotated[bool, LOAD.rare("--cold-start", "all slots start at once instead of in mid-flight")] = False,
    cap: Annotated[float | None, LOAD.rare("--cap 10m", "longest time for a cell [10m, virtual 24h]", seconds)] = None,
    idle_timeout: Annotated[float | None, LOAD.rare("--idle-timeout 60s", _IDLE, seconds)] = None,
    slo: options.Slo = None,
    require_slo: Annotated[bool, JUDGE.rare("--require-slo", "exit 1 unless some load meets each --slo")] = False,
    gate: Annotated[Path | None, JUDGE.rare("--gate DIR", _GATE)] = None,
    describe: options.Describe = None,
    set_: options.Set = None,
    calibration: Annotated[Path | None, DECLARE.rare("--calibration FILE", _CALIBRATION)] = None,
    out: Annotated[Path, OUTPUT("--out DIR", "parent folder [reports]")] = Path("reports"),
    name: Annotated[str | None, OUTPUT("--name NAME", "name of folder and files [MODEL-PROFILE-TIME]", values.name)] = None,
    json: options.Json = False,
    junit: options.Junit = None,
    summary: options.Summary = None,
    keep_chunks: Annotated[bool, OUTPUT.rare("--keep-chunks", "keep every chunk's time in the records")] = False,
    dry_run: Annotated[bool, HOW("--dry-run", "show the plan and stop")] = False,
    yes: options.Yes = False,
    seed: options.Seed = 0,
    workers: Annotated[
        int | None, HOW.rare("--workers N", "client processes [auto: by the plan's expected pace]", auto_or(whole(1, 1024)))
    ] = None,
    no_canary: Annotated[bool, HOW.rare("--no-canary", _CANARY)] = False,
    interleave: Annotated[bool, HOW.rare("--interleave", _INTERLEAVE)] = False,
    virtual: Annotated[bool, HOW.rare("--virtual", _VIRTUAL)] = False,
) -> int:
    """Measure an endpoint over a grid of loads.

    One curve file a profile, with figure, page and records, in reports/NAME/. `run` may be left out:

        sweep --endpoint http://localhost:8000 --profile 1k-8k
    """
    from sweep.cli.nightly import Outputs, tonight
    from sweep.cli.screen import watching
    from sweep.cli.turns import first, taking_turns
    from sweep.curve.folder import require_writable
    from sweep.run import Settings, judge
    from sweep.run import interleave as measure

    values.belongs("--arrivals", arrivals is not None, "--rate", rate is not None)
    values.belongs("--require-slo", require_slo, "--slo", slo is not None)
    values.belongs("--junit", junit is not None, "--gate", gate is not None)
    values.belongs("--summary", summary is not None, "--gate", gate is not None)
    if gate and not dry_run:
        require_writable(gate, "--gate")
    settings = Settings(
        endpoint=first(endpoint, interleave),
        profiles=tuple(profile or ("1k-1k",)),
        model=model,
        dialect=dialect,
        slos=tuple(slo or ()),
        grid=grid,
        rate=rate,
        kind=(arrivals or "poisson") if rate else "closed",
        duration_s=duration,
        requests=requests,
        start="cold" if cold_start else None,
        repeats=repeat,
        effort=effort,
        budget_s=budget,
        cap_s=cap,
        idle_timeout_s=idle_timeout,
        max_concurrency=max_concurrency,
        max_tokens=max_tokens,
        seed=seed,
        workers=workers,
        headers=tuple(header or ()),
        dataset=dataset,
        body=body,
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
    missed = require_slo and not all(met(curve) for curve in curves)
    outputs = Outputs(stdout_is_taken=json, pages=gate, junit=junit, summary=summary)
    worse = tonight(curves, gate, outputs) if gate and curves else 0  # a night without a good point belongs to the history too
    judge(curves)
    return worse or int(missed)


def met(curve: Curve) -> bool:
    """Whether each of the curve's SLOs is met at some load."""
    from sweep.curve.pick import pick

    return all(pick(curve, slo).verdict == "met" for slo in curve.slos)
