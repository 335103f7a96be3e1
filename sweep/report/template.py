"""What all pages share: how their templates are filled, and their colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sweep.report import style

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> Environment:
    """Everything filled in is escaped; a name that is not given is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("sweep.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def light() -> str:
    """CSS variables, by the colours' names."""
    return " ".join(f"--{name}: {colour};" for colour, name in style.NAMES.items())


def dark() -> str:
    return " ".join(f"--{style.NAMES[role]}: {colour};" for role, colour in style.DARK.items())
