"""`sweep profiles`: the workloads that come with sweep."""

from __future__ import annotations

from sweep.cli.options import Json

PANEL = "Set up"
PLACE = 10


def profiles(json: Json = False) -> None:
    """List the workload profiles.

    ISL and OSL are their mean input and output tokens, or what else an answer is counted in. --profile also takes a TOML
    file, or ISL/OSL such as 1k/8k or 512/128.
    """
    from sweep import dialect
    from sweep.cli.screen import print_document, terminal
    from sweep.plan import lengths, profile

    known = profile.list_profiles()
    if json:
        print_document(known)
        return
    from sweep.report.text import profile_table

    means = [
        (each, lengths.expected(each.isl), lengths.expected(each.osl), dialect.get(each.dialect).TRAITS.unit) for each in known
    ]
    terminal().print(profile_table(means))
