"""Several curves in one figure: bands, measured points, thin interpolation, what the measurements alone prove, what is out of reach.

Here a colour says which side, never which percentile; every side has a mark of its own too, and its name stands at its line.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.curve.compare.nouns import Comparison
from sweep.curve.compare.plane import named_axis
from sweep.model import Curve
from sweep.report import style
from sweep.report.compare import names, plot, words
from sweep.report.foreign import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDES = (
    ("#0071b3", "#5ab6ea"),
    ("#c8560b", "#f29450"),
    ("#008660", "#40c89b"),
    ("#a84c86", "#dd8fc0"),
    ("#8a6d00", "#d9b93b"),
    ("#4b5563", "#aab4c2"),
)
"""(on light, on dark); safe for the common colour-blindnesses. A seventh side begins again."""

MARKS = ("o", "s", "D", "^", "P", "v")
SHADED = 3  # brackets of more sides than this would hide each other
LOG_FROM = 4.0  # an axis that spans more is logarithmic
Line = Sequence[Sequence[float]]


def figure(compared: Comparison, curves: Sequence[Curve], *, heading: bool = True) -> Figure:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    plain = harmless(compared)
    labelled = {side.label: harmless(curve) for side, curve in zip(plain.sides, curves, strict=True)}
    axis = plot.numbers(named_axis(list(labelled.values()), plain.axis), labelled)
    called = [names.short(plot.side(label, curve, True)["short"], 30) for label, curve in labelled.items()]
    with mpl.rc_context(style.RC):
        drawn = Figure(figsize=(style.WIDTH_INCHES, style.HEIGHT_INCHES))
        FigureCanvasAgg(drawn)
        ax = drawn.add_axes((0.075, 0.12, 0.905, 0.74 if heading else 0.83))
        if heading:
            _heading(drawn, plain)
        _draw(ax, plain, axis, called)
        notes = "solid: measured   ·   line: interpolated   ·   band: 95 % of the points"
        if len(plain.sides) <= SHADED:
            notes += "   ·   boxes: where it must lie by the measurements alone"
        text: Any = drawn.text
        text(0.075, 0.02, notes, fontsize=8, color=style.MUTED)
        return drawn


def save(compared: Comparison, curves: Sequence[Curve], svg: Path, png: Path) -> None:
    """Both pictures; the same comparison gives the same bytes of SVG. Raises OSError."""
    import matplotlib as mpl

    drawn = figure(compared, curves)
    with mpl.rc_context(style.RC):
        svg.write_bytes(_svg(drawn))
        drawn.savefig(png, format="png", dpi=style.PNG_DPI, metadata={"Software": None})


def svg_text(compared: Comparison, curves: Sequence[Curve]) -> str:
    """For a page that carries it inline."""
    import matplotlib as mpl

    with mpl.rc_context(style.RC):
        return _svg(figure(compared, curves, heading=False)).decode()


def _svg(drawn: Figure) -> bytes:
    held = BytesIO()
    drawn.savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    return held.getvalue()


def _heading(drawn: Figure, compared: Comparison) -> None:
    text: Any = drawn.text
    answer = "\n".join(textwrap.wrap(words.answer(compared), 104)[:2])
    text(0.075, 0.985, answer, fontsize=10.5, weight="bold", va="top", parse_math=False, linespacing=1.3)
    said = "  ·  ".join(f"{side.label}: {names.short(side.model, 36)}" for side in compared.sides)
    text(0.075, 0.915, names.short(said, 140), fontsize=9, color=style.MUTED, va="top", parse_math=False)


def _draw(ax: Axes, compared: Comparison, axis: Mapping[str, Any], called: Sequence[str]) -> None:
    ax.set_xlabel(f"{axis['x_label']}  →  better")
    ax.set_ylabel(re.sub(r"\[.*\]$", f"[{names.rate_unit(compared)}]", axis["y_label"]))
    ax.tick_params(length=0)
    drawn = []
    for place, side in enumerate(compared.sides):
        per = 1 / (side.accelerators or 1) if compared.basis == "accelerator" else 1.0
        curve = axis["curves"][side.label]
        drawn.append({key: [(x, y * per) for x, y in curve[key]] for key in ("vertices", "line", "low", "high")})
        drawn[place]["points"] = [(point["x"], point["y"] * per) for point in curve["points"]]
        drawn[place]["hollow"] = [point["disqualified"] for point in curve["points"]]
    every = [spot for each in drawn for spot in each["points"]]
    if not every:
        ax.text(0.5, 0.5, "no point has a place on this axis", transform=ax.transAxes, ha="center", color=style.MUTED)
        return
    _scales(ax, every)
    for place, each in enumerate(drawn):
        _side(ax, each, SIDES[place % len(SIDES)][0], MARKS[place % len(MARKS)], boxes=len(drawn) <= SHADED)
    _ends(ax, drawn, [side.label for side in compared.sides])
    _names(ax, drawn, called)


def _scales(ax: Axes, every: Sequence[tuple[float, float]]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for place, (name, pick) in enumerate((("x", ax.xaxis), ("y", ax.yaxis))):
        values = [spot[place] for spot in every]
        log = max(values) > LOG_FROM * min(values)
        (ax.set_xscale if name == "x" else ax.set_yscale)("log" if log else "linear")
        limits = (min(values) / 1.25, max(values) * 1.25) if log else (0.0, max(values) * 1.1)
        (ax.set_xlim if name == "x" else ax.set_ylim)(*limits)
        if log:
            pick.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        pick.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        pick.set_minor_formatter(NullFormatter())


def _side(ax: Axes, each: Mapping[str, Any], colour: str, mark: str, *, boxes: bool) -> None:
    corners = [*each["low"], *reversed(each["high"])]
    if len(corners) > 2:
        ax.fill([x for x, _ in corners], [y for _, y in corners], color=colour, alpha=0.14, linewidth=0, zorder=1.5)
    if boxes:
        for (left, above), (right, below) in zip(each["vertices"], each["vertices"][1:], strict=False):
            ax.fill([left, right, right, left], [above, above, below, below], color=colour, alpha=0.09, linewidth=0, zorder=1)
    ax.plot([x for x, _ in each["line"]], [y for _, y in each["line"]], color=colour, linewidth=1.1, zorder=3)
    for (x, y), hollow in zip(each["points"], each["hollow"], strict=True):
        face = style.PAPER if hollow else colour
        ax.plot([x], [y], mark, ms=6, mfc=face, mec=colour, mew=1.4, zorder=4)


def _ends(ax: Axes, drawn: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> None:
    """Beyond its last vertex a side was not seen to reach."""
    floor = ax.get_ylim()[0]
    for place, (each, label) in enumerate(zip(drawn, labels, strict=True)):
        if not each["vertices"]:
            continue
        (x, y), colour = each["vertices"][-1], SIDES[place % len(SIDES)][0]
        ax.plot([x, x], [floor, y], color=colour, linewidth=1, linestyle=(0, (2, 3)), zorder=2)
        ax.annotate(
            f"{label} unreachable →", (x, 0.012 + 0.028 * place), xycoords=("data", "axes fraction"), xytext=(-4, 0),
            textcoords="offset points", ha="right", fontsize=7.5, color=colour, parse_math=False,
        )  # fmt: skip


def _names(ax: Axes, drawn: Sequence[Mapping[str, Any]], called: Sequence[str]) -> None:
    """Each name at its own line, where everything else is farthest."""
    spots = [[ax.transData.transform(spot) for spot in (*each["line"], *each["points"])] for each in drawn]
    box = ax.get_window_extent()
    taken: list[tuple[float, float]] = []
    for place, name in enumerate(called):
        others = [spot for other, own in enumerate(spots) if other != place for spot in own] + taken
        width = 7.2 * len(name)
        best: tuple[float, float, float] | None = None
        for x, y in spots[place]:
            for dx, dy in ((10, 10), (10, -18), (-10 - width, -18), (-10 - width, 10)):
                left, base = x + dx, y + dy
                if left < box.x0 + 4 or left + width > box.x1 or base + 12 > box.y1 or base < box.y0 + 40:
                    continue
                gaps = [hypot(max(left - u, 0.0, u - left - width), max(base - v, 0.0, v - base - 12)) for u, v in others]
                own = [hypot(max(left - u, 0.0, u - left - width), max(base - v, 0.0, v - base - 12)) for u, v in spots[place]]
                room = min(70.0, *gaps, *(6 * gap for gap in own))
                if best is None or room > best[0]:
                    best = (room, left, base)
        if best is None:
            continue
        x, y = ax.transData.inverted().transform((best[1], best[2]))
        colour = SIDES[place % len(SIDES)][0]
        ax.text(x, y, name, color=colour, weight="bold", fontsize=9.5, zorder=6, parse_math=False)
        taken += [(best[1] + step, best[2] + 6) for step in range(0, int(width), 12)]
