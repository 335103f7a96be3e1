"""What the nightly commands share: tonight's curve into its history, and the judgement written out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.errors import OutputError

if TYPE_CHECKING:
    from sweep.model import Curve, History


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a judgement goes beside the terminal; None: nowhere."""

    json: bool = False
    stdout_is_taken: bool = False  # words go to standard error
    pages: Path | None = None
    junit: Path | None = None
    summary: Path | None = None
    bencher: Path | None = None
    prometheus: Path | None = None


def publish(histories: Sequence[History], outputs: Outputs, *, strict: bool = False) -> None:
    """Everything asked for, all but the document with foreign text made harmless. Raises OutputError, when the judgement has been shown."""
    from sweep.cli.screen import terminal
    from sweep.convert.bencher import bencher
    from sweep.convert.document import document
    from sweep.convert.junit import junit
    from sweep.convert.markdown import markdown
    from sweep.convert.prometheus import prometheus
    from sweep.report.foreign import harmless
    from sweep.report.nightly import text

    if outputs.json:
        sys.stdout.buffer.write(document(histories))
    histories = [harmless(history) for history in histories]
    if not outputs.json:
        text.show(terminal(stderr=outputs.stdout_is_taken), histories)
    if outputs.junit:
        _write(outputs.junit, junit(histories, strict=strict))
    if outputs.summary:
        _write(outputs.summary, markdown(histories), append=True)
    if outputs.bencher:
        _write(outputs.bencher, bencher(histories))
    if outputs.prometheus:
        _write(outputs.prometheus, prometheus(histories))
    if outputs.pages:
        from sweep.report.nightly import page

        try:
            outputs.pages.mkdir(parents=True, exist_ok=True)
            written = page.save(histories, outputs.pages)
        except OSError as error:
            raise OutputError(
                f"{outputs.pages}: {error.strerror or error}", "choose a folder with --out, or --no-page"
            ) from error
        print(f"page: {written['index']}", file=sys.stderr)


def tonight(curves: Sequence[Curve], folder: Path, outputs: Outputs) -> int:
    """Adds tonight's curves to the history in `folder` and judges it. The exit code is that of `sweep regress`."""
    from sweep.curve import regress

    histories = [regress.gate(folder, curve) for curve in curves]
    publish(histories, outputs)
    return regress.exit_code(histories)


def _write(path: Path, text: str, *, append: bool = False) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}", "name a file that can be written") from error
