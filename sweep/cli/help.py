"""Help that fits a screen: options in panels, the rarely used ones (declared `hidden`) only under --help-all.

A command of few options shows them all, in one panel. A paragraph of its text that is indented is an example, shown as it is.

Written as plain text by ourselves: it answers in a tenth of a second and reads the same with every version of the libraries below.
"""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

EVERYTHING = "--help-all"
DEFAULT = "run"  # `sweep --endpoint URL` means `sweep run --endpoint URL`
OWN = frozenset({"--help", "-h", EVERYTHING, "--version", "--install-completion", "--show-completion"})
FIRST_COLUMN = 24
FEW = 8  # options
Rows = list[tuple[str, str]]


class Command(TyperCommand):
    """A command whose help is grouped in panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if EVERYTHING in args and not ctx.resilient_parsing:
            typer.echo(command_help(self, ctx, everything=True))
            raise typer.Exit
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return command_help(self, ctx, everything=False)


class Group(TyperGroup):
    """The top command: without a command's name, options belong to `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # the shell asks for completions
            return super().parse_args(ctx, args)
        if not args or args[0] == EVERYTHING:
            typer.echo(group_help(self, ctx))
            raise typer.Exit
        if args[0].startswith("-") and args[0] not in OWN:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        found = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, DEFAULT)
        if default is not None and incomplete.startswith("-"):
            found += default.shell_complete(typer.Context(default, parent=ctx), incomplete)
        return found

    def get_help(self, ctx: Any) -> str:
        return group_help(self, ctx)


def command_help(command: Any, ctx: Any, *, everything: bool, width: int | None = None) -> str:
    """Usage, what the command does, and its options by panel in the order they are declared."""
    params = [param for param in command.params if param.name != "help"]
    few = sum(param.param_type_name == "option" for param in params) <= FEW
    rare = [] if few else [param for param in params if getattr(param, "hidden", False)]
    shown = params if everything else [param for param in params if param not in rare]
    panels: dict[str, Rows] = {}
    for param in shown:
        panel = (not few and getattr(param, "rich_help_panel", None)) or _kind(param)
        panels.setdefault(panel, []).append(option_row(param))
    help_rows = [("--help", "show this"), *([(EVERYTHING, "show the rarely used options too")] if rare else [])]
    panels.setdefault("Help", []).extend(help_rows)
    arguments = [_argument(param) for param in shown if param.param_type_name == "argument"]
    usage = " ".join(["Usage:", ctx.command_path, *arguments, "[OPTIONS]"])
    return "\n".join([usage, "", *_prose(command.help or "", width or _width()), *_panels(panels, width or _width())])


def group_help(group: Any, ctx: Any, *, width: int | None = None) -> str:
    """Usage, the commands by panel, and how to go on."""
    panels: dict[str, Rows] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if not command.hidden:
            panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append((name, _summary(command)))
    panels["Help"] = [
        ("--help", "show this; after a command: that command's options"),
        ("--version", "show the version"),
        ("--install-completion", "completion for this shell"),
    ]
    usage = f"Usage: {ctx.command_path} [COMMAND] [OPTIONS]"
    return "\n".join([usage, "", *_prose(group.help or "", width or _width()), *_panels(panels, width or _width())])


def option_row(param: Any) -> tuple[str, str]:
    """`--grid 1,2,4` and what it means."""
    if param.param_type_name == "argument":
        return _argument(param), param.help or ""
    names = ", ".join(param.opts)
    return (names if param.is_flag else f"{names} {param.metavar or _value(param)}"), param.help or ""


def _summary(command: Any) -> str:
    """The first paragraph."""
    return " ".join((command.help or "").split("\n\n")[0].split()).rstrip(".")


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return f"{name}..." if param.nargs == -1 else name


def _value(param: Any) -> str:
    return "N" if isinstance(param.default, int | float) else "TEXT"


def _kind(param: Any) -> str:
    return "Arguments" if param.param_type_name == "argument" else "Options"


def _width() -> int:
    return max(60, min(100, shutil.get_terminal_size((80, 24)).columns))


def _prose(text: str, width: int) -> list[str]:
    """Paragraphs, wrapped and followed by an empty line each."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        example = paragraph.startswith("    ")
        lines += [*([paragraph.rstrip()[2:]] if example else textwrap.wrap(" ".join(paragraph.split()), width)), ""]
    return lines


def _panels(panels: Mapping[str, Rows], width: int) -> list[str]:
    lines: list[str] = []
    for title, rows in panels.items():
        lines.append(_bold(title))
        for name, meaning in rows:
            wrapped = textwrap.wrap(meaning, width - FIRST_COLUMN - 2) or [""]
            if len(name) > FIRST_COLUMN - 2:
                lines.append(f"  {name}")
            else:
                lines.append(f"  {name:<{FIRST_COLUMN}}{wrapped.pop(0)}".rstrip())
            lines += [f"  {'':<{FIRST_COLUMN}}{rest}" for rest in wrapped]
    return lines


def _bold(text: str) -> str:
    return text if os.environ.get("NO_COLOR") else typer.style(text, bold=True)
