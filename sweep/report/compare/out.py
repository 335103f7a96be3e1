"""Where a comparison goes: terminal, JSON, Markdown, page, pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sweep.curve.artifact import plain
from sweep.curve.compare.nouns import Comparison
from sweep.errors import OutputError
from sweep.model import Curve


def json_text(compared: Comparison) -> str:
    return json.dumps(plain(compared), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def markdown_text(compared: Comparison, curves: Sequence[Curve]) -> str:
    from sweep.report.compare import markdown

    return markdown.render(compared, curves)


def show(compared: Comparison, curves: Sequence[Curve], written: Mapping[str, Path]) -> None:
    from rich.console import Console

    from sweep.report.compare import text
    from sweep.report.text import file_lines

    console = Console(highlight=False)
    text.show(console, compared, curves)
    if written:
        console.print(file_lines(written))


def write(compared: Comparison, curves: Sequence[Curve], *, html: Path | None, figure: Path | None) -> dict[str, Path]:
    """What was asked for; raises OutputError. `figure` names both pictures, with or without their suffix."""
    made: dict[str, Path] = {}
    try:
        if figure is not None:
            from sweep.report.compare import overlay

            stem = figure.with_suffix("") if figure.suffix in {".svg", ".png"} else figure
            made |= {"svg": stem.with_name(stem.name + ".svg"), "png": stem.with_name(stem.name + ".png")}
            overlay.save(compared, curves, made["svg"], made["png"])
        if html is not None:
            from sweep.report import page

            page.save_comparison(compared, curves, html)
            made["html"] = html
    except OSError as error:
        raise OutputError(f"{error.filename}: {error.strerror}", "name a file in a folder that exists") from error
    return made
