"""`sweep regress`: has the curve moved?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Judge"
PLACE = 20

HOW, OUT, CONFIRM = "How it is judged", "Where results go", "Measure suspects again"
Texts = list[str] | None


def regress(
    files: Annotated[
        list[Path], typer.Argument(metavar="DIR|FILES", help="curve files, or folders that are searched for them")
    ],
    metric: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            rich_help_panel=HOW,
            help="watched figure; repeatable [output_tok_per_s, ttft_p50, tpot_p50]",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|last:N", rich_help_panel=HOW, help="compare with this curve, or the last N nights [last:20]"
        ),
    ] = None,
    nights_per_alarm: Annotated[
        int, typer.Option(metavar="N", min=1, rich_help_panel=HOW, help="one false alarm in so many nights [120]")
    ] = 120,
    strict: Annotated[bool, typer.Option("--strict", rich_help_panel=HOW, help="exit 1 on a suspicion too")] = False,
    json: Annotated[bool, typer.Option("--json", rich_help_panel=OUT, help="one document on stdout")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", rich_help_panel=OUT, help="pages, pictures, index.html [DIR, if one is given]")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", rich_help_panel=OUT, help="judge only; draw nothing")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", rich_help_panel=OUT, help="JUnit XML")] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=OUT, help='Markdown, appended; "$GITHUB_STEP_SUMMARY" in a workflow'),
    ] = None,
    bencher: Annotated[
        Path | None, typer.Option(metavar="FILE", hidden=True, rich_help_panel=OUT, help="Bencher Metric Format")
    ] = None,
    prometheus: Annotated[
        Path | None, typer.Option(metavar="FILE", hidden=True, rich_help_panel=OUT, help="Prometheus text")
    ] = None,
    confirm_endpoint: Annotated[
        str | None,
        typer.Option(metavar="URL", rich_help_panel=CONFIRM, help="measure the suspect loads again here, with fresh prompts"),
    ] = None,
    restarted: Annotated[
        bool,
        typer.Option(
            "--restarted", rich_help_panel=CONFIRM, help="the server was restarted since: what is measured now can confirm"
        ),
    ] = False,
    header: Annotated[
        Texts, typer.Option(metavar="'NAME: VALUE'", hidden=True, rich_help_panel=CONFIRM, help="header to send; repeatable")
    ] = None,
) -> int:
    """Judge a history of nightly curves: no change, suspected, or confirmed, and since when.

    Exit code 1: a regression is confirmed (with --strict: suspected). 4: the latest night cannot be judged. Else 0.
    """
    from sweep.cli.nightly import Outputs, publish
    from sweep.curve import regress as judging

    rules = judging.rules(metric or (), baseline=baseline, nights_per_alarm=nights_per_alarm)
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
    publish(histories, Outputs(json, pages, junit, summary, bencher, prometheus), strict=strict)
    return judging.exit_code(histories, strict=strict)
