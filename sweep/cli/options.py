"""What options and arguments are called, and how they are explained: the same one has the same words in every command.

A panel is the heading under which help lists its options; `PANEL("--cap 10m", "longest time for a cell")` declares one, spelled
as help shows it, and `PANEL.rare(…)` one that only --help-all lists. Those that several commands take are types of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sweep.cli import values

Texts = list[str] | None


@dataclass(frozen=True, slots=True)
class Panel:
    title: str

    def __call__(self, spelling: str, meaning: str, read: values.Reader | None = None, *, hidden: bool = False) -> Any:
        """`--grid 1,2,4`, `--dry-run` or `--yes, -y`; `read` makes of the text what the command is given."""
        flag, _, rest = spelling.partition(" ")
        flags = spelling.split(", ") if rest.startswith("-") else [flag]
        reading = None if read is None else _reader(read, flags[0])
        return typer.Option(
            *flags, metavar=rest or None, help=meaning, rich_help_panel=self.title, hidden=hidden, parser=reading
        )

    def rare(self, spelling: str, meaning: str, read: values.Reader | None = None) -> Any:
        return self(spelling, meaning, read, hidden=True)


def _reader(read: values.Reader, flag: str) -> Any:
    def reading(text: object) -> Any:
        return read(str(text), flag)  # a default comes as it is

    return reading


ENDPOINT, WORKLOAD, LOAD, HOW = map(Panel, ("Endpoint", "Workload", "Load", "How"))
JUDGE, PRICE, DECLARE, OUTPUT = map(Panel, ("Judge", "Price", "Declare", "Output"))

URL = "the API, with or without /v1; or sim, sim:PRESET for the embedded one"
_FILE, _OR_INPUT = "curve file, or its folder", "curve file, its folder, or - for standard input"
_HEADER = "header to send; repeatable. A key may also be in SWEEP_API_KEY or OPENAI_API_KEY"
_BODY = "fields for every request, as '{\"temperature\": 0.7}' or the name of a file; recorded, so no place for keys"
_AXIS = "frontier over interactivity, tpot, e2e, ttft, normalised-e2e or smooth; total/NAME for total throughput"
_SUMMARY = 'the judgement as Markdown, appended; "$GITHUB_STEP_SUMMARY" in a workflow'

File = Annotated[str, typer.Argument(metavar="FILE", help=_FILE)]
Files = Annotated[list[str], typer.Argument(metavar="FILE", help=_FILE)]
FileOrInput = Annotated[str, typer.Argument(metavar="FILE", help=_OR_INPUT)]
FilesOrInput = Annotated[list[str], typer.Argument(metavar="FILE", help=_OR_INPUT)]

Model = Annotated[str | None, ENDPOINT("--model ID", "which model, where several are served")]
Header = Annotated[Texts, ENDPOINT("--header 'NAME: VALUE'", _HEADER)]
Dialect = Annotated[
    str | None, ENDPOINT.rare("--dialect NAME", "how the API is spoken: chat, completions, … [the profile's, or chat]")
]
Insecure = Annotated[bool, ENDPOINT.rare("--insecure", "do not verify the certificate; recorded")]
Body = Annotated[str | None, WORKLOAD.rare("--body JSON", _BODY)]
Budget = Annotated[float | None, LOAD("--budget 20m", "endpoint time for all cells [twice the doubling's]", values.seconds)]
MaxTokens = Annotated[int | None, LOAD("--max-tokens 5M", "end the sweep when this many were sent and received", values.count)]
Slo = Annotated[Texts, JUDGE("--slo SLO", "a preset, or bounds like ttft_p99<=450ms,tpot_p99<=40ms; repeatable")]
Axis = Annotated[str | None, JUDGE("--axis NAME", _AXIS, values.axis_pair)]
Set = Annotated[Texts, DECLARE.rare("--set KEY=VALUE", "declare one fact, e.g. hardware.accelerator_count=8; repeatable")]
Describe = Annotated[Path | None, DECLARE.rare("--describe FILE", "TOML that declares software, hardware, client and price")]
Json = Annotated[bool, OUTPUT("--json", "one document on stdout, all else on stderr")]
Junit = Annotated[Path | None, OUTPUT.rare("--junit FILE", "the judgement as JUnit XML")]
Summary = Annotated[Path | None, OUTPUT.rare("--summary FILE", _SUMMARY)]
Seed = Annotated[int, HOW.rare("--seed N", "of all that is drawn at random [0]", values.whole(0))]
Yes = Annotated[bool, HOW("--yes, -y", "do not ask before an expensive plan")]
