"""One panel of the figure: points, frontier, intervals, SLO lines, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sweep.model import Curve, Estimate, Point, Slo
from sweep.report import quantity, style
from sweep.report.labels import Box, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Read = Callable[[Point], Estimate | None]
Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point's place in a panel. `bars` are its two-sided intervals, `faint` that its percentile rests on too few requests."""

    point: Point
    x: float
    y: float
    bars: tuple[tuple[Spot, Spot], ...]
    faint: bool


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    x: Read
    colour: str


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
    taken = _goals(ax, panel, curve, track)
    _label_levels(ax, [mark for found in drawn for mark in found], taken, track)
    for index, (series, _) in enumerate(reversed(shown)):
        ax.annotate(series.name, (1.0, 1.0), xycoords="axes fraction", xytext=(-26 * index, 9), textcoords="offset points",
                    ha="right", color=series.colour, weight="bold")  # fmt: skip


def marks(series: Series, points: Sequence[Point]) -> list[Mark]:
    """The points that have both a place on the x axis and a throughput."""
    found: list[Mark] = []
    for point in points:
        across, up = series.x(point), quantity.rate(point)
        if across is None or up is None or across.value is None or up.value is None:
            continue
        x, y = across.value, up.value
        bars = [((across.low, y), (across.high, y))] if across.low is not None and across.high is not None else []
        bars += [((x, up.low), (x, up.high))] if up.low is not None and up.high is not None else []
        found.append(Mark(point, x, y, tuple(bars), across.few))
    return found


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


def frontier(drawn: Sequence[Mark], more_is_better: bool) -> list[Spot]:
    """What no other load beats in both directions of the panel, from left to right.

    Repeats of a load are one candidate at their mean; disqualified and faint points are out.
    """
    sign = 1 if more_is_better else -1
    loads: dict[tuple[str, float], list[Mark]] = {}
    for mark in drawn:
        if not mark.point.disqualified and not mark.faint:
            loads.setdefault((mark.point.load.kind, mark.point.load.level), []).append(mark)
    able = [(fmean(mark.x for mark in each), fmean(mark.y for mark in each)) for each in loads.values()]
    best: list[Spot] = []
    for x, y in sorted(able, key=lambda each: (-sign * each[0], -each[1])):
        if not best or y > best[-1][1]:
            best.append((x, y))
    return sorted(best)


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


def _goals(ax: Axes, panel: Panel, curve: Curve, track: Sequence[Spot]) -> list[Box]:
    """A line for each bound of an SLO on this panel's metric; a bound outside the picture is named at the edge it lies behind."""
    bounds: dict[float, str] = {}
    for letter, slo in letters(curve):
        for bound in slo.bounds:
            if bound.metric == panel.metric and bound.limit_s > 0:
                at = 1 / bound.limit_s if panel.more_is_better else bound.limit_s
                bounds[at] = f"{bounds[at]}, {letter}" if at in bounds else f"{letter} {quantity.bound_text(bound)}".strip()
    low, high = ax.get_xlim()
    inside = [at for at in bounds if low < at < high]
    for at in inside:
        ax.axvline(at, color=style.GOAL, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
    floor, ceiling = ax.get_ylim()
    obstacles = [*track, *(spot for at in inside for spot in _along(_pixel(ax, (at, floor)), _pixel(ax, (at, ceiling)), 60))]
    boxes: list[Box] = []
    for at, text in sorted(bounds.items()):
        said, where = (f"{text}  →", high) if at >= high else (f"←  {text}", low) if at <= low else (text, at)
        boxes.append(_beside(ax, where, said, boxes, obstacles, top=panel.more_is_better))
    return boxes


def letters(curve: Curve) -> list[tuple[str, Slo]]:
    """Each SLO with the letter that stands for it in the picture; none where there is only one."""
    single = len(curve.slos) == 1
    return [("" if single else chr(ord("A") + index % 26), slo) for index, slo in enumerate(curve.slos)]


def _beside(ax: Axes, at: float, text: str, taken: Sequence[Box], track: Sequence[Spot], *, top: bool) -> Box:
    """Write `text` beside the line at `at`, inside the frame, off other labels and as far off the data as it can be."""
    label = ax.annotate(
        text,
        (at, 1.0 if top else 0.0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        xytext=(0, 0),
        va="top" if top else "bottom",
        fontsize=8,
        color=style.GOAL,
        zorder=6,
        parse_math=False,
    )
    frame = ax.get_window_extent()
    room = Box(frame.x0 - 1, frame.y0, frame.x1 + 1, frame.y1)
    best: tuple[int, int, str] | None = None
    for row in range(10):
        for side in ("left", "right"):
            box = _move(label, row, side, top)
            covered = sum(box.left < u < box.right and box.bottom < v < box.top for u, v in track)
            free = box.inside(room) and not any(box.overlaps(other) for other in taken)
            if free and (best is None or covered < best[0]):
                best = (covered, row, side)
    _, row, side = best or (0, 0, "left")
    return _move(label, row, side, top)


def _move(label: Any, row: int, side: str, top: bool) -> Box:
    offset = 4 + 12 * row
    label.set_horizontalalignment(side)
    label.set_position((5 if side == "left" else -5, -offset if top else offset))
    return _box(label)


def _box(text: Any) -> Box:
    extent = text.get_window_extent(text.figure.canvas.get_renderer())
    return Box(extent.x0, extent.y0, extent.x1, extent.y1)


def _label_levels(ax: Axes, every: Sequence[Mark], taken: Sequence[Box], track: Sequence[Spot]) -> None:
    """The load beside each point, moved until no two labels overlap; repeats share the label of the first."""
    named = [mark for mark in every if not mark.point.repeat] or every
    texts = [
        ax.text(0, 0, quantity.level(mark.point.load), fontsize=8.5, color=style.INK, ha="center", va="center", zorder=7)
        for mark in named
    ]
    sizes = [(box.right - box.left + 2, box.top - box.bottom) for box in map(_box, texts)]
    anchors = [_pixel(ax, (mark.x, mark.y)) for mark in named]
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
        found += [spot for start, end in (*path, *bars) for spot in _along(_pixel(ax, start), _pixel(ax, end))]
    return found


def _pixel(ax: Axes, at: Spot) -> Spot:
    x, y = ax.transData.transform(at)
    return float(x), float(y)


def _along(start: Spot, end: Spot, pieces: int = 16) -> list[Spot]:
    (x, y), (u, v) = start, end
    return [(x + (u - x) * step / pieces, y + (v - y) * step / pieces) for step in range(pieces + 1)]
