"""What a reader of a curve must know of its endpoint: judged from what preflight learned."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.model import Endpoint, Finding


def findings(endpoint: Endpoint) -> Iterator[Finding]:
    if endpoint.insecure:
        yield Finding(code="insecure")
    refused = endpoint.facts.get("fields_refused")
    if refused:
        yield Finding(code="fields-refused", data={"fields": ", ".join(refused)})
    if endpoint.calibration.source == "assumed" and endpoint.unit != "audio seconds":  # which has no prompt length
        yield Finding(code="assumed-calibration")


def changes(before: Endpoint, now: Endpoint) -> Iterator[Finding]:
    """What is another thing than when the sweep began; an interrupted sweep may be resumed on a restarted server."""
    for what in ("model", "server", "version", "context_tokens", "fields", "proxy"):
        was, is_ = getattr(before, what), getattr(now, what)
        if was != is_:
            yield Finding(
                code="system-changed", data={"what": what.replace("_", " "), "before": _said(was), "after": _said(is_)}
            )


def _said(value: object) -> str:
    return "unknown" if value is None else ", ".join(value) if isinstance(value, tuple) else str(value)
