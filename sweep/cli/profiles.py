"""`sweep profiles`: the workloads that come with sweep."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

PANEL = "Set up"
PLACE = 10


def profiles(json: Annotated[bool, typer.Option("--json", help="one document on stdout")] = False) -> None:
    """List the workload profiles.

    ISL and OSL are their mean input and output tokens.

    --profile also takes a TOML file, or ISL/OSL such as 1k/8k or 512/128.
    """
    from sweep.plan import lengths, profile

    known = profile.list_profiles()
    if json:
        import msgspec

        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(known), indent=2) + b"\n")
        return
    from rich.console import Console

    from sweep.report.text import profile_table

    means = [(each, lengths.expected(each.isl), lengths.expected(each.osl)) for each in known]
    Console(highlight=False).print(profile_table(means))
