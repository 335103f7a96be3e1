"""`sweep regress`: has the curve moved?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sweep.cli.options import ENDPOINT, JUDGE, OUTPUT, Header, Json, Junit, Summary, Texts
from sweep.cli.values import whole

PANEL = "Judge"
PLACE = 20

_FILES = "curve files, or folders that are searched for them"
_METRIC = "watched figure; repeatable [output_tok_per_s, ttft_p50, tpot_p50]"
_BASELINE = "compare with this curve, or the last N nights [last:20]"
_CONFIRM = "measure the suspect loads again here, with fresh prompts"
_RESTARTED = "the server was restarted since: what is measured now can confirm"


def regress(
    files: Annotated[list[Path], typer.Argument(metavar="DIR|FILES", help=_FILES)],
    metric: Annotated[Texts, JUDGE("--metric NAME", _METRIC)] = None,
    baseline: Annotated[str | None, JUDGE("--baseline FILE|last:N", _BASELINE)] = None,
    nights_per_alarm: Annotated[
        int, JUDGE("--nights-per-alarm N", "one false alarm in so many nights [120]", whole(1, 100_000))
    ] = 120,
    strict: Annotated[bool, JUDGE("--strict", "exit 1 on a suspicion too")] = False,
    confirm_endpoint: Annotated[str | None, ENDPOINT("--confirm-endpoint URL", _CONFIRM)] = None,
    restarted: Annotated[bool, ENDPOINT("--restarted", _RESTARTED)] = False,
    header: Header = None,
    json: Json = False,
    out: Annotated[Path | None, OUTPUT("--out DIR", "pages, pictures, index.html [DIR, if one is given]")] = None,
    no_page: Annotated[bool, OUTPUT("--no-page", "judge only; draw nothing")] = False,
    junit: Junit = None,
    summary: Summary = None,
    bencher: Annotated[Path | None, OUTPUT.rare("--bencher FILE", "the night in Bencher Metric Format")] = None,
    prometheus: Annotated[Path | None, OUTPUT.rare("--prometheus FILE", "the night as Prometheus text")] = None,
) -> int:
    """Judge nightly curves: did they get slower, since when?

    No change, suspected or confirmed, on the terminal and as pages. Exit code 1: a regression is confirmed (with --strict: suspected). 4: the latest night cannot be judged. Else 0.
    """
    from sweep.cli.nightly import Outputs, publish
    from sweep.curve import regress as judging
    from sweep.curve.nightly.rules import rules as rules_for

    rules = rules_for(metric or (), baseline=baseline, nights_per_alarm=nights_per_alarm)
    histories = judging.regress(files, rules)
    if confirm_endpoint is not None:
        from rich.console import Console

        from sweep.report.progress import Watcher
        from sweep.run.again import again

        folder = next((path for path in files if path.is_dir()), Path())
        with Watcher(Console(stderr=True, highlight=False), lambda *_: True, lambda *_: None) as watch:
            histories = [
                again(each, rules, confirm_endpoint, folder, watch, restarted=restarted, headers=tuple(header or ()))
                for each in histories
            ]
    pages = None if no_page else out or (files[0] if len(files) == 1 and files[0].is_dir() else None)
    publish(
        histories,
        Outputs(json=json, pages=pages, junit=junit, summary=summary, bencher=bencher, prometheus=prometheus),
        strict=strict,
    )
    return judging.exit_code(histories, strict=strict)
