"""The latest judgement as Prometheus text (exposition format 0.0.4), for the node exporter's textfile collector or a push gateway."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from sweep.model import History, NightVerdict

HELP = {
    "sweep_night_verdict": "1 for the verdict on the latest night",
    "sweep_night_timestamp_seconds": "when the latest night was measured",
    "sweep_night_value": "value of a metric at a load in the latest night",
    "sweep_night_change_ratio": "curve statistic of the latest night, relative to the baseline",
    "sweep_night_level_to_best_ratio": "present level relative to the best ever held",
}


def prometheus(histories: Sequence[History]) -> str:
    samples: dict[str, list[str]] = {name: [] for name in HELP}
    for history in histories:
        for name, labels, value in _samples(history):
            said = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            samples[name].append(f"{name}{{{said}}} {value!r}")
    lines: list[str] = []
    for name, given in samples.items():
        if given:
            lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge", *given]
    return "\n".join(lines) + "\n"


def _samples(history: History) -> Iterator[tuple[str, dict[str, str], float]]:
    own = {"history": history.title}
    for verdict in get_args(NightVerdict):
        yield "sweep_night_verdict", {**own, "verdict": verdict}, float(verdict == history.verdict)
    if not history.nights:
        return
    yield "sweep_night_timestamp_seconds", own, history.nights[-1].at_s
    for line in history.timelines:
        for cell in history.nights[-1].cells:
            if line.metric in cell.values:
                labels = {**own, "metric": line.metric, "load": cell.load.label}
                yield "sweep_night_value", labels, cell.values[line.metric]
        if line.change[-1] is not None:
            yield "sweep_night_change_ratio", {**own, "metric": line.metric}, line.change[-1]
        if line.best is not None and line.latest is not None:
            ratio = (1 + line.latest) / (1 + line.best) - 1
            yield "sweep_night_level_to_best_ratio", {**own, "metric": line.metric}, ratio


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
