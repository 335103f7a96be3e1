"""The command reference, docs/cli.md: written from the commands themselves with `python -m sweep.cli.reference`."""

from __future__ import annotations

from typing import Any

import typer
from typer.main import get_command

from sweep.cli.help import command_help, group_help
from sweep.cli.main import application

WIDTH = 80
HEAD = """# Commands

Written by `make docs` from the commands themselves. `sweep COMMAND --help` shows the same without the rarely used options.
"""


def text() -> str:
    """Every command with every option."""
    group: Any = get_command(application())
    top = typer.Context(group, info_name="sweep")
    parts = [HEAD, _block("sweep", group_help(group, top, width=WIDTH))]
    for name in group.list_commands(top):
        command = group.get_command(top, name)
        context = typer.Context(command, info_name=name, parent=top)
        parts.append(_block(f"sweep {name}", command_help(command, context, everything=True, width=WIDTH)))
    return "\n".join(parts)


def _block(title: str, text: str) -> str:
    plain = text.replace("\x1b[1m", "").replace("\x1b[0m", "")
    return f"## {title}\n\n```text\n{plain}\n```\n"


if __name__ == "__main__":
    print(text(), end="")
