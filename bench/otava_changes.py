"""Runs in an environment that has apache-otava: histories on stdin (series of values, more is worse), nights of losses on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any


def losses(history: list[list[float]]) -> list[int]:
    """The nights at which any of the series gets worse, with the defaults of `otava analyze`."""
    from otava.series import AnalysisOptions, Metric, Series  # type: ignore[import-not-found]

    data = {str(number): values for number, values in enumerate(history)}
    nights = range(len(history[0]))
    series = Series("nightly", None, [86_400 * night for night in nights], {name: Metric() for name in data}, data, {})
    found: dict[str, list[Any]] = series.analyze(AnalysisOptions()).change_points
    return sorted({int(one.index) for each in found.values() for one in each if one.forward_change_percent() > 0})


if __name__ == "__main__":
    json.dump([losses(history) for history in json.load(sys.stdin)], sys.stdout)
