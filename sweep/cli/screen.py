"""What commands share: progress on stderr, the question before an expensive plan, one document on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from sweep.model import Curve, Endpoint, Expected, Plan
    from sweep.report.progress import Watcher

EXPENSIVE_S = 600.0
EXPENSIVE_TOKENS = 5_000_000


@contextmanager
def watching(*, json: bool, yes: bool, plan_only: bool = False) -> Iterator[Watcher]:
    """A watcher for one run. Curves are shown as they are finished; with `json` they are one document at the end.

    With `plan_only` the plan is the result and goes to stdout.
    """
    import msgspec
    from rich.console import Console

    from sweep.curve import artifact
    from sweep.report import text
    from sweep.report.progress import Watcher

    class Progress(Console):
        def on_broken_pipe(self) -> None:
            self.quiet = True  # nobody watches any more: the sweep goes on

    documents: list[bytes] = []

    def done(curve: Curve, paths: dict[str, Path]) -> None:
        if json:
            documents.append(artifact.to_json(curve).rstrip(b"\n"))
        else:
            text.show(terminal(), curve, paths)

    def agree(plan: Plan, endpoint: Endpoint, expected: Expected) -> bool:
        if json and plan_only:
            documents.append(msgspec.json.encode({"plan": plan, "expected": expected}))
        return yes or not is_expensive(endpoint, expected) or not _on_a_terminal() or _ask(endpoint)

    try:
        with Watcher(Progress(stderr=json or not plan_only, highlight=False), agree, done) as watcher:
            yield watcher
    finally:
        if documents:
            whole = documents[0] if len(documents) == 1 else b"[" + b",\n".join(documents) + b"]"
            sys.stdout.buffer.write(whole + b"\n")
            sys.stdout.flush()


def terminal(*, stderr: bool = False) -> Console:
    """Standard output, for tables and words; standard error where a document stands on the output."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def print_document(said: Any) -> None:
    """A noun, or several, as JSON on stdout."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")


def is_expensive(endpoint: Endpoint, expected: Expected) -> bool:
    """More than 10 minutes or 5 M tokens, or unknown, on an endpoint that is not this machine."""
    if endpoint.loopback or endpoint.simulated:
        return False
    tokens = (expected.input_tokens, expected.output_tokens)
    if expected.seconds is None or None in tokens:
        return True
    return expected.seconds > EXPENSIVE_S or sum(each or 0 for each in tokens) > EXPENSIVE_TOKENS


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(endpoint: Endpoint) -> bool:
    print(f"Send all this to {endpoint.url}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
