"""The frontiers of the nights, old ones faint, the latest strong, and the first of a changed level in its colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sweep.curve.nightly.words import when
from sweep.model import History
from sweep.report import style
from sweep.report.nightly.drawing import COLOURS, TITLE, figure
from sweep.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fan_figure(history: History) -> Figure:
    return figure(history, 4.4, _fan)


def _fan(figure: Figure, history: History, first: int) -> None:
    ax = figure.subplots()
    x_label, y_label = history.nights[-1].frontier_labels
    shown = [
        (place, night.frontier)
        for place, night in enumerate(history.nights)
        if place >= first and night.frontier and night.frontier_labels == (x_label, y_label)
    ]
    began = {change.began: change.direction for change in history.changes}
    for order, (place, vertices) in enumerate(shown):
        xs, ys = zip(*vertices, strict=True)
        if order == len(shown) - 1:
            label = f"latest, {when(history, place)}"
            ax.plot(xs, ys, "o-", color=style.TYPICAL, linewidth=2.2, ms=4.5, zorder=5, label=label)
        elif place in began:
            label = f"changed ({began[place]}), {when(history, place)}"
            ax.plot(xs, ys, "o--", color=COLOURS[began[place]], linewidth=1.8, ms=3.5, zorder=4, label=label)
        else:
            age = (order + 1) / len(shown)
            ax.plot(xs, ys, color=style.FAINT[style.TYPICAL], linewidth=1.0, alpha=0.15 + 0.5 * age, zorder=2)
    ax.set_xlabel(f"{x_label}  →  better", parse_math=False)
    ax.set_ylabel(y_label, parse_math=False)
    ax.set_title("Frontier, night by night", **TITLE)
    ax.tick_params(length=0)
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    if len(shown) > 1:
        label = f"{counted(len(shown), 'night')} since {when(history, shown[0][0])}"
        ax.plot([], [], color=style.FAINT[style.TYPICAL], label=label)
    if shown:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=style.INK)
