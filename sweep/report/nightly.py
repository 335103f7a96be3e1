"""A history as pictures: a time line for each metric, the frontier over the nights, and every load's change as a map.

The last nights are shown, at most `SHOWN`. Blue is what was measured, orange what got worse, green what got better; a grey band
is where a night raises no suspicion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.curve.nightly.words import percent
from sweep.model import Change, History, Timeline
from sweep.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 120
WIDTH_INCHES = 9.0
LINE_INCHES = 1.75
UNMEASURED = "#eceff3"
SHADES = 41  # from 50 on, matplotlib draws the scale as a bitmap, which the page does not allow
COLOURS = {"worse": style.TAIL, "better": style.GOAL}
Draw = Callable[["Figure", History, int], None]


def timeline_figure(history: History) -> Figure:
    """One panel a metric: relative change of the curve against the latest baseline, its band, and where it moved."""
    lines = len(history.timelines)
    return _figure(history, LINE_INCHES * lines + 0.75, _timelines)


def fan_figure(history: History) -> Figure:
    """The frontiers of the nights, old ones faint, the latest strong, and the first of a changed level in its colour."""
    return _figure(history, 4.4, _fan)


def map_figure(history: History) -> Figure:
    """Load × night, one panel a metric: how much worse than the usual level of that load."""
    return _figure(history, 1.9 * len(history.timelines) + 0.6, _maps)


def svg(figure: Figure) -> str:
    import matplotlib as mpl

    held = BytesIO()
    with mpl.rc_context(style.RC):
        figure.savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    return held.getvalue().decode()


def png(figure: Figure) -> bytes:
    import matplotlib as mpl

    held = BytesIO()
    with mpl.rc_context(style.RC):
        figure.savefig(held, format="png", dpi=style.PNG_DPI, metadata={"Software": None})
    return held.getvalue()


def _figure(history: History, height: float, draw: Draw) -> Figure:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(style.RC):
        figure = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, history, max(0, len(history.nights) - SHOWN))
        return figure


# --- time lines --------------------------------------------------------------------------------------------------


def _timelines(figure: Figure, history: History, first: int) -> None:
    axes = figure.subplots(len(history.timelines), 1, sharex=True, squeeze=False)[:, 0]
    for ax, line in zip(axes, history.timelines, strict=True):
        _timeline(ax, history, line, first)
    _dates(axes[-1], history, first)


def _timeline(ax: Axes, history: History, line: Timeline, first: int) -> None:
    at = _days(history)
    change, low, high = (_percents(each) for each in (line.change, line.low, line.high))
    band_at, lower, upper = _broken(at[first:], low[first:], high[first:])
    ax.fill_between(band_at, lower, upper, color=style.RULE, alpha=0.6, linewidth=0, zorder=1)
    ax.axhline(0, color=style.MUTED, linewidth=0.7, zorder=1.5)
    ax.plot(*_broken(at[first:], change[first:]), color=style.FAINT[style.TYPICAL], linewidth=1.2, zorder=3)
    for place in range(first, len(at)):
        latest = place == len(at) - 1
        suspect = any(one.metric == line.metric for one in history.judged[place].suspects)
        colour = _night_colour(history, place) if suspect else style.TYPICAL
        ax.plot(at[place], change[place], "o", ms=5.5 if latest or suspect else 2.6, color=colour, zorder=4, clip_on=False)
    _frame(ax, line, change[first:], low[first:], high[first:])
    for each in history.changes:
        if each.began >= first and any(one.metric == line.metric for one in each.suspects):
            _mark(ax, at[each.began], COLOURS[each.direction], _mark_text(history, each, line))
    if line.drift is not None and line.drift >= first:
        _mark(ax, at[line.drift], style.MUTED, f"drifting since {_date(history, line.drift)}", dotted=True)


def _frame(ax: Axes, line: Timeline, *shown: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    every = np.concatenate(shown)
    every = every[np.isfinite(every)]
    reach = max(5.0, float(np.abs(every).max())) if len(every) else 5.0
    bottom = min(-3.0, float(every.min()) if len(every) else 0.0) - 0.08 * reach
    top = max(3.0, float(every.max()) if len(every) else 0.0) + 0.3 * reach  # room for what the marks say
    ax.set_ylim(bottom, top)
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.3g} %".replace("-", "−") if value else "0"))
    ax.tick_params(length=0)
    good = "more is better" if line.more_is_better else "less is better"
    ax.set_title(line.title, loc="left", fontsize=10, weight="bold", color=style.INK)
    best = f"   ·   best ever {percent(line.best)}, now {percent(line.latest)}" if line.best is not None else ""
    ax.set_title(good + best, loc="right", fontsize=8, color=style.MUTED)


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
    return f"{percent(strongest.change)}{where} since {_date(history, change.began)}"


def _night_colour(history: History, place: int) -> str:
    return style.GOAL if history.judged[place].verdict in ("improved", "ok") else style.TAIL


# --- the frontier's fan ------------------------------------------------------------------------------------------


def _fan(figure: Figure, history: History, first: int) -> None:
    ax = figure.subplots()
    shown = [(place, night) for place, night in enumerate(history.nights) if place >= first and night.frontier]
    began = {change.began: change for change in history.changes}
    for order, (place, night) in enumerate(shown):
        xs, ys = zip(*night.frontier, strict=True)
        last = order == len(shown) - 1
        age = (order + 1) / len(shown)
        if last:
            ax.plot(
                xs, ys, "o-", color=style.TYPICAL, linewidth=2.2, ms=4.5, zorder=5, label=f"latest, {_date(history, place)}"
            )
        elif place in began:
            colour = COLOURS[began[place].direction]
            label = f"changed ({began[place].direction}), {_date(history, place)}"
            ax.plot(xs, ys, "o--", color=colour, linewidth=1.8, ms=3.5, zorder=4, label=label)
        else:
            nights = f"{len(shown)} nights since {_date(history, place)}"
            ax.plot(
                xs,
                ys,
                color=style.FAINT[style.TYPICAL],
                linewidth=1.0,
                alpha=0.15 + 0.5 * age,
                zorder=2,
                label=nights if order == 0 else None,
            )
    x_label, y_label = history.nights[-1].frontier_labels if history.nights else ("", "")
    ax.set_xlabel(f"{x_label}  →  better", parse_math=False)
    ax.set_ylabel(y_label, parse_math=False)
    ax.set_title("Frontier, night by night", loc="left", fontsize=10, weight="bold", color=style.INK)
    ax.tick_params(length=0)
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    if shown:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=style.INK)


# --- load × night ------------------------------------------------------------------------------------------------


def _maps(figure: Figure, history: History, first: int) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    shades = LinearSegmentedColormap.from_list("sweep", [style.GOAL, "#ffffff", style.TAIL], SHADES).with_extremes(
        bad=UNMEASURED
    )
    axes = figure.subplots(len(history.timelines), 1, sharex=True, squeeze=False)[:, 0]
    for ax, line in zip(axes, history.timelines, strict=True):
        labels, ratios = _ratios(history, line, first)
        at, *rows = _broken(_days(history)[first:], *ratios)
        reach = max(5.0, float(np.nanpercentile(np.abs(ratios), 99)) if np.isfinite(ratios).any() else 5.0)
        picture = ax.pcolormesh(
            _edges(at), np.arange(len(labels) + 1), np.array(rows), cmap=shades, norm=TwoSlopeNorm(0, -reach, reach)
        )
        ax.set_yticks(np.arange(len(labels)) + 0.5, labels)
        ax.set_title(f"{line.title}, by load", loc="left", fontsize=10, weight="bold", color=style.INK)
        ax.grid(visible=False)
        ax.tick_params(length=0, axis="both", labelsize=7.5)
        bar = figure.colorbar(picture, ax=ax, pad=0.01, fraction=0.03)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=7.5)
        bar.set_label("% worse", fontsize=8, color=style.MUTED)
        for change in history.changes:
            if change.began >= first:
                ax.axvline(_days(history)[change.began] - _usual_gap(at) / 2, color=style.INK, linewidth=1.2)
    _dates(axes[-1], history, first)


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
    half = _usual_gap(at) / 2
    return np.append(at - half, at[-1:] + half)


def _usual_gap(at: np.ndarray) -> float:
    return float(np.median(np.diff(at))) if len(at) > 1 else 1.0


def _broken(at: np.ndarray, *rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same with a NaN after each night that is followed by missing ones."""
    usual = _usual_gap(at)
    breaks = np.flatnonzero(np.diff(at) > 1.5 * usual) + 1
    return np.insert(at, breaks, at[breaks - 1] + usual), *(np.insert(row, breaks, np.nan) for row in rows)


# --- dates -------------------------------------------------------------------------------------------------------


def _days(history: History) -> np.ndarray:
    """matplotlib's dates: days since 1970."""
    return np.array([night.at_s / 86_400 for night in history.nights])


def _date(history: History, place: int) -> str:
    at = datetime.fromtimestamp(history.nights[place].at_s, UTC)
    return f"{at:%Y-%m-%d}" if _spans_days(history) else f"{at:%H:%M}"


def _spans_days(history: History) -> bool:
    return len(history.nights) < 2 or history.nights[-1].at_s - history.nights[0].at_s > 2 * 86_400


def _dates(ax: Any, history: History, first: int) -> None:
    from matplotlib import dates

    typed: Any = dates
    locator = typed.AutoDateLocator(minticks=3, maxticks=9)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(typed.ConciseDateFormatter(locator))
    at = _days(history)[first:]
    if len(at) > 1:
        margin = 0.01 * (at[-1] - at[0])
        ax.set_xlim(at[0] - margin, at[-1] + margin)


def _percents(values: Sequence[float | None]) -> np.ndarray:
    return 100 * np.array([np.nan if value is None else value for value in values], dtype=np.float64)
