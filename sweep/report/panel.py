"""One panel of the figure: points, frontier, intervals, SLO lines, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sweep.model import Curve, Point
from sweep.report import quantity, style
from sweep.report.goals import draw_goals
from sweep.report.labels import Box, place
from sweep.report.marks import Mark, Series, Spot, frontier, marks
from sweep.report.pixels import along, box_of, pixel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    x_label: str
    missing: str
    series: tuple[Series, ...]
    metric: str | None  # the SLO metric whose bounds are lines here
    more_is_better: bool


def draw(ax: Axes, panel: Panel, points: Sequence[Point], curve: Curve) -> None:
    ax.set_title(panel.title, loc="left", fontsize=10.5, weight="bold", color=style.INK, pad=9)
    ax.set_xlabel(panel.x_label.format(rate=curve.endpoint.rate_unit))
    ax.set_ylabel(f"output {curve.endpoint.rate_unit}")
    ax.tick_params(length=0)
    shown = [(series, found) for series in panel.series if (found := marks(series, points))]
    if not shown:
        _say_why(ax, panel, points)
        return
    drawn = [found for _, found in shown]
    _scale(ax, panel, drawn)
    for series, found in shown:
        _draw_series(ax, series.colour, found, frontier(found, panel.more_is_better))
    track = _track(ax, drawn)
    taken = draw_goals(ax, panel.metric, curve, track, more_is_better=panel.more_is_better)
    _label_levels(ax, drawn[-1], taken, track)
    for index, (series, _) in enumerate(reversed(shown)):
        ax.annotate(series.name, (1.0, 1.0), xycoords="axes fraction", xytext=(-26 * index, 9), textcoords="offset points",
                    ha="right", color=series.colour, weight="bold")  # fmt: skip


def _say_why(ax: Axes, panel: Panel, points: Sequence[Point]) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    why = panel.missing if points else "no cell was measured"
    ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color=style.MUTED, wrap=True)


def _scale(ax: Axes, panel: Panel, drawn: Sequence[list[Mark]]) -> None:
    """Axes from zero, or logarithmic in x where a latency spans more than a factor of twelve."""
    every = [mark for each in drawn for mark in each]
    ends = [end for mark in every for bar in mark.bars for end in bar]
    xs, ys = [mark.x for mark in every], [mark.y for mark in every]
    widest, highest = _reach(xs, [x for x, _ in ends]), _reach(ys, [y for _, y in ends])
    ax.set_ylim(0, highest * 1.14)
    if not panel.more_is_better and min(xs) > 0 and max(xs) / min(xs) > 12:
        ax.set_xscale("log")
        ax.set_xlim(min(xs) / 1.5, widest * 1.5)
    else:
        ax.set_xlim(0, widest * 1.12)
    _plain_ticks(ax)


def _reach(values: Sequence[float], ends: Sequence[float]) -> float:
    """The largest value with its interval, as far as that does not dwarf the points; 1 when all are 0."""
    largest = max(values)
    return min(max([largest, *ends]), 1.25 * largest) or 1.0


def _plain_ticks(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if ax.get_xscale() == "log":
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _draw_series(ax: Axes, colour: str, drawn: Sequence[Mark], best: Sequence[Spot]) -> None:
    faint = style.FAINT[colour]
    path = [(mark.x, mark.y) for mark in drawn if not mark.point.disqualified]
    ax.plot([x for x, _ in path], [y for _, y in path], color=faint, linewidth=1.0, zorder=2)
    ax.plot([x for x, _ in best], [y for _, y in best], color=colour, linewidth=2.0, solid_capstyle="round", zorder=3)
    for mark in drawn:
        for (u, v), (w, z) in mark.bars:
            ax.plot([u, w], [v, z], color=faint, linewidth=1.2, solid_capstyle="butt", zorder=2.5)
        edge = faint if mark.faint else colour
        face = style.PAPER if mark.point.disqualified else edge
        ax.plot([mark.x], [mark.y], "o", ms=6.5, mfc=face, mec=edge, mew=1.5, zorder=5, clip_on=False)


def _label_levels(ax: Axes, every: Sequence[Mark], taken: Sequence[Box], track: Sequence[Spot]) -> None:
    """The load beside each point, moved until no two labels overlap; repeats share the label of the first."""
    named = [mark for mark in every if not mark.point.repeat] or every
    texts = [
        ax.text(0, 0, quantity.level(mark.point.load), fontsize=8.5, color=style.INK, ha="center", va="center", zorder=7)
        for mark in named
    ]
    sizes = [(box.right - box.left + 2, box.top - box.bottom) for box in map(box_of, texts)]
    anchors = [pixel(ax, (mark.x, mark.y)) for mark in named]
    frame = ax.get_window_extent()
    area = Box(frame.x0, frame.y0, frame.x1, frame.y1 + 6)
    places = place(anchors, sizes, area, gap=6.0, taken=taken, track=track)
    back = ax.transData.inverted()
    for text, anchor, spot in zip(texts, anchors, places, strict=True):
        if spot is None:
            text.remove()
            continue
        text.set_position(tuple(back.transform((spot.x, spot.y))))
        if spot.leader:
            start, end = back.transform(anchor), back.transform((spot.x, spot.y))
            ax.plot([start[0], end[0]], [start[1], end[1]], color=style.MUTED, linewidth=0.6, zorder=2)


def _track(ax: Axes, drawn: Sequence[Sequence[Mark]]) -> list[Spot]:
    """Spots in pixels along everything drawn, which labels had better not cover."""
    found: list[Spot] = []
    for each in drawn:
        path = pairwise([(mark.x, mark.y) for mark in each])
        bars = [bar for mark in each for bar in mark.bars]
        found += [spot for start, end in (*path, *bars) for spot in along(pixel(ax, start), pixel(ax, end))]
    return found
