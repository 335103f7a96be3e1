"""A time line for each metric: the curve's change night by night, the band where it raises no suspicion, and where it moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sweep.curve.nightly.words import percent, when
from sweep.model import Change, History, Timeline
from sweep.report import style
from sweep.report.nightly.drawing import COLOURS, TITLE, broken, days, figure, signed, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_INCHES = 1.75


def timeline_figure(history: History) -> Figure:
    """One panel a metric: relative change of the curve against the latest baseline, its band, and where it moved."""
    return figure(history, LINE_INCHES * len(history.timelines) + 0.75, _timelines)


def _timelines(figure: Figure, history: History, first: int) -> None:
    axes = figure.subplots(len(history.timelines), 1, sharex=True, squeeze=False)[:, 0]
    for ax, line in zip(axes, history.timelines, strict=True):
        _timeline(ax, history, line, first)
    time_axis(axes[-1], history, first)


def _timeline(ax: Axes, history: History, line: Timeline, first: int) -> None:
    at = days(history)
    change, low, high = (_percents(each) for each in (line.change, line.low, line.high))
    band_at, lower, upper = broken(at[first:], low[first:], high[first:])
    ax.fill_between(band_at, lower, upper, color=style.RULE, alpha=0.6, linewidth=0, zorder=1)
    ax.axhline(0, color=style.MUTED, linewidth=0.7, zorder=1.5)
    ax.plot(*broken(at[first:], change[first:]), color=style.FAINT[style.TYPICAL], linewidth=1.2, zorder=3)
    for place in range(first, len(at)):
        latest = place == len(at) - 1
        moved = _moved(history, place, line)
        colour = _night_colour(history, place) if moved else style.TYPICAL
        ax.plot(at[place], change[place], "o", ms=5.5 if latest or moved else 2.6, color=colour, zorder=4, clip_on=False)
    _frame(ax, line, change[first:], low[first:], high[first:])
    for each in history.changes:
        if each.began >= first and any(one.metric == line.metric for one in each.suspects):
            _mark(ax, at[each.began], COLOURS[each.direction], _mark_text(history, each, line))
    if line.drift is not None and line.drift >= first:
        _mark(ax, at[line.drift], style.MUTED, f"drifting since {when(history, line.drift)}", dotted=True)


def _frame(ax: Axes, line: Timeline, *shown: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    every = np.concatenate(shown)
    every = every[np.isfinite(every)]
    reach = max(5.0, float(np.abs(every).max())) if len(every) else 5.0
    bottom = min(-3.0, float(every.min()) if len(every) else 0.0) - 0.08 * reach
    top = max(3.0, float(every.max()) if len(every) else 0.0) + 0.3 * reach  # room for what the marks say
    ax.set_ylim(bottom, top)
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: signed(value, " %")))
    ax.tick_params(length=0)
    good = "more is better" if line.more_is_better else "less is better"
    ax.set_title(line.title, **TITLE)
    best = f"   ·   best ever {percent(line.best)}, now {percent(line.latest)}" if line.best is not None else ""
    ax.set_title(good + best, loc="left", fontsize=8, color=style.MUTED)


def _mark(ax: Axes, at: float, colour: str, text: str, *, dotted: bool = False) -> None:
    ax.axvline(at, color=colour, linewidth=1.3, linestyle=":" if dotted else "-", zorder=2)
    low, high = ax.get_xlim()
    right = low < high and at > low + 0.7 * (high - low)
    ax.annotate(text, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(-4 if right else 4, -3), textcoords="offset points",
                ha="right" if right else "left", va="top", fontsize=8, color=colour, weight="bold", parse_math=False)  # fmt: skip


def _mark_text(history: History, change: Change, line: Timeline) -> str:
    sizes = [one for one in change.suspects if one.metric == line.metric]
    strongest = min(sizes, key=lambda one: one.p)
    where = "" if strongest.cell is None else f" at {strongest.cell}"
    return f"{percent(strongest.change)}{where} since {when(history, change.began)}"


def _moved(history: History, place: int, line: Timeline) -> bool:
    """Whether a night raised or bore out a suspicion of this metric. One that turned out to be back at the old level did not."""
    back = any(
        change.direction == "worse" and change.ended is not None and change.ended <= place
        for change in [change for change in history.changes if change.confirmed <= place][-1:]
    )
    judged = history.judged[place]
    return any(one.metric == line.metric for one in judged.suspects) and not (back and judged.verdict == "regressed")


def _night_colour(history: History, place: int) -> str:
    return style.GOAL if history.judged[place].verdict in ("improved", "ok") else style.TAIL


def _percents(values: Sequence[float | None]) -> np.ndarray:
    return 100 * np.array([np.nan if value is None else value for value in values], dtype=np.float64)
