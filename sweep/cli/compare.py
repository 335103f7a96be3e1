"""`sweep compare`: curve files against each other, without their endpoints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from sweep.cli import lists, values
from sweep.cli.options import HOW, JUDGE, OUTPUT, PRICE, Axis, FilesOrInput, Json, Seed, Slo, Texts
from sweep.errors import UsageError

PANEL = "Judge"
PLACE = 10

_AT = "places on the axis, in its unit [round ones all cover]"
_PRICE = "of an accelerator-hour; A=0.60/M of a million tokens; repeatable"
_ACCELERATORS = "how many stand behind a curve, where its file is silent; repeatable"
_POWER = "watts one accelerator draws, in place of the file's; repeatable"
_WEIGHTS = "your demand at places on the axis or SLOs: one mean cost"
_MAX_COST = "per million tokens: the best that stays under it"


def compare(
    files: FilesOrInput,
    slo: Slo = None,
    at: Annotated[str | None, JUDGE("--at 20,50", _AT)] = None,
    axis: Axis = None,
    price: Annotated[Texts, PRICE("--price A=2.5", _PRICE)] = None,
    accelerators: Annotated[Texts, PRICE("--accelerators A=8", _ACCELERATORS)] = None,
    power: Annotated[Texts, PRICE("--power A=700", _POWER)] = None,
    weights: Annotated[str | None, PRICE("--weights 20=3,SLO=1", _WEIGHTS)] = None,
    max_cost: Annotated[float | None, PRICE("--max-cost N", _MAX_COST, values.number)] = None,
    force: Annotated[bool, HOW("--force", "compare even what is not comparable")] = False,
    delta: Annotated[float, HOW.rare("--delta N", "a difference that decides nothing [0.03]", values.decimal(0.001, 1))] = 0.03,
    seed: Seed = 0,
    json: Json = False,
    md: Annotated[bool, OUTPUT("--md", "Markdown on stdout")] = False,
    html: Annotated[Path | None, OUTPUT("--html OUT", "write the page")] = None,
    figure: Annotated[Path | None, OUTPUT("--figure OUT", "write OUT.svg and OUT.png")] = None,
) -> int:
    """Compare curves: who is better, how sure, at what price.

    The files are called A, B, C … in their order. Exit code 1: a target asked for is met by no curve. 4: the comparison
    would be unfair.

        sweep compare ours theirs --slo 'ttft_p99<=450ms' --price A=2.5 --price B=3.1
    """
    from sweep.cli.curves import curve as read
    from sweep.curve.compare.together import compare as put_together
    from sweep.curve.compare.together import unmet
    from sweep.plan.slo import parse

    if json and md:
        raise UsageError(
            "--json and --md both write to standard output", "choose one; --html and --figure write files beside it"
        )
    slos = [each for text in slo or () for each in parse(text)]
    places, demand = lists.places(at, "--at"), lists.weights(weights, "--weights")
    prices, counts = lists.prices(price or (), "--price"), lists.accelerators(accelerators or (), "--accelerators")
    watts = lists.powers(power or (), "--power")
    curves = [read(file) for file in files]
    compared = put_together(
        curves,
        slos=slos,
        at=places,
        weights=demand,
        axis=axis,
        prices=prices,
        counts=counts,
        powers=watts,
        cost_ceiling=max_cost,
        delta=delta,
        seed=seed,
        force=force,
    )
    from sweep.report.compare import out

    written = out.write(compared, curves, html=html, figure=figure)
    if json:
        sys.stdout.write(out.json_text(compared))
    elif md:
        sys.stdout.write(out.markdown_text(compared, curves))
    else:
        out.show(compared, curves, written)
    return 1 if unmet(compared) else 0
