"""The latest night in Bencher Metric Format: {benchmark: {measure: {value}}}, one benchmark a load (bencher.dev/docs/reference/bencher-metric-format)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sweep.model import History


def bencher(histories: Sequence[History]) -> str:
    """The watched metrics of every load that has them; a load without any is left out."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for history in histories:
        if not history.nights:
            continue
        watched = {line.metric for line in history.timelines}
        for cell in history.nights[-1].cells:
            measures = {name: {"value": value} for name, value in cell.values.items() if name in watched}
            if measures:
                document[f"{history.title} {cell.load.label}"] = measures
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
