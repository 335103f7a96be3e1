"""Load × night, one panel a metric: how much worse than the usual level of that load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sweep.model import History, Timeline
from sweep.report import style
from sweep.report.nightly.drawing import TITLE, broken, days, figure, signed, time_axis, usual_gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL_INCHES = 1.9
UNMEASURED = "#eceff3"
SHADES = 41  # from 50 on, matplotlib draws the scale as a bitmap, which the page does not allow


def map_figure(history: History) -> Figure:
    return figure(history, PANEL_INCHES * len(history.timelines) + 0.6, _maps)


def _maps(figure: Figure, history: History, first: int) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
    from matplotlib.ticker import FuncFormatter

    shades = LinearSegmentedColormap.from_list("sweep", [style.GOAL, "#ffffff", style.TAIL], SHADES).with_extremes(
        bad=UNMEASURED
    )
    axes = figure.subplots(len(history.timelines), 1, sharex=True, squeeze=False)[:, 0]
    for ax, line in zip(axes, history.timelines, strict=True):
        labels, ratios = _ratios(history, line, first)
        at, *rows = broken(days(history)[first:], *ratios)
        reach = max(5.0, float(np.nanpercentile(np.abs(ratios), 99)) if np.isfinite(ratios).any() else 5.0)
        picture = ax.pcolormesh(
            _edges(at), np.arange(len(labels) + 1), np.array(rows), cmap=shades, norm=TwoSlopeNorm(0, -reach, reach)
        )
        ax.set_yticks(np.arange(len(labels)) + 0.5, labels)
        ax.set_title(f"{line.title}, by load", **TITLE)
        ax.grid(visible=False)
        ax.tick_params(length=0, axis="both", labelsize=7.5)
        bar = figure.colorbar(picture, ax=ax, pad=0.01, fraction=0.03, format=FuncFormatter(lambda value, _: signed(value)))
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=7.5)
        bar.set_label("% worse", fontsize=8, color=style.MUTED)
        for change in history.changes:
            if change.began >= first and any(one.metric == line.metric for one in change.suspects):
                ax.axvline(days(history)[change.began] - usual_gap(at) / 2, color=style.INK, linewidth=1.2)
    time_axis(axes[-1], history, first)
    edges = _edges(days(history)[first:])
    axes[-1].set_xlim(edges[0], edges[-1])


def _ratios(history: History, line: Timeline, first: int) -> tuple[list[str], np.ndarray]:
    """Percent worse than the median of the nights shown, loads × nights; NaN where a load was not measured or does not count."""
    loads = sorted(
        {cell.load for night in history.nights[first:] for cell in night.cells}, key=lambda load: (load.kind, load.level)
    )
    logs = np.full((len(loads), len(history.nights) - first), np.nan)
    for column, night in enumerate(history.nights[first:]):
        for cell in night.cells:
            if line.metric in cell.values:
                logs[loads.index(cell.load), column] = np.log(cell.values[line.metric])
    for row in logs:
        known = row[np.isfinite(row)]
        row -= np.median(known) if len(known) else 0.0
    sign = -1 if line.more_is_better else 1
    return [load.label for load in loads], 100 * np.expm1(sign * logs)


def _edges(at: np.ndarray) -> np.ndarray:
    """The borders of the columns: half a night before each, and one after the last."""
    half = usual_gap(at) / 2
    return np.append(at - half, at[-1:] + half)
