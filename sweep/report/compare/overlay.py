"""Several curves in one figure: bands, measured points, thin interpolation, what the measurements alone prove, what is out of reach.

Here a colour says which side, never which percentile; every side has a mark of its own too, and its name stands at its line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.curve.compare.nouns import Comparison
from sweep.curve.compare.plane import named_axis
from sweep.model import Curve
from sweep.report import style
from sweep.report.axis import bare
from sweep.report.compare import names, plot, texts, words
from sweep.report.foreign import harmless
from sweep.wording import short

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
"""(on light, on dark); safe for the common colour-blindnesses. A seventh side begins again, with another mark."""

MARKS = ("o", "s", "D", "^", "P")
SHADED = 3  # bands and brackets of more sides than this would hide each other
CROWDED = 60  # points, from which on marks are smaller
NARROW = 10.0  # an axis that spans less has finer ticks
LOG_FROM = 4.0  # an axis that spans more is logarithmic
Line = Sequence[Sequence[float]]


def figure(compared: Comparison, curves: Sequence[Curve], *, heading: bool = True) -> Figure:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    plain = harmless(compared)
    labelled = {side.label: harmless(curve) for side, curve in zip(plain.sides, curves, strict=True)}
    axis = plot.numbers(named_axis(list(labelled.values()), plain.axis), labelled)
    called = [short(plot.side(label, curve, True)["short"], 30) for label, curve in labelled.items()]
    with mpl.rc_context(style.RC):
        drawn = Figure(figsize=(style.WIDTH_INCHES, style.HEIGHT_INCHES))
        FigureCanvasAgg(drawn)
        ax = drawn.add_axes((0.075, 0.12, 0.905, 0.74 if heading else 0.83))
        if heading:
            _heading(drawn, plain)
        _draw(ax, plain, axis, called)
        notes = "solid: measured, with its load   ·   line: interpolated   ·   dotted: not seen to reach further"
        if len(plain.sides) <= SHADED:
            notes += "   ·   band: 95 % of the points   ·   boxes: where it must lie by the measurements alone"
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
    said = "  ·  ".join(f"{side.label}: {short(side.model, 36)}" for side in compared.sides)
    text(0.075, 0.915, short(said, 140), fontsize=9, color=style.MUTED, va="top", parse_math=False)


def _draw(ax: Axes, compared: Comparison, axis: Mapping[str, Any], called: Sequence[str]) -> None:
    ax.set_xlabel(f"{axis['x_label']}  →  better")
    ax.set_ylabel(f"{bare(axis['y_label'])} [{names.rate_unit(compared)}]")
    ax.tick_params(length=0)
    drawn: list[dict[str, Any]] = []
    for place, side in enumerate(compared.sides):
        per = names.scale(side, compared)
        curve = axis["curves"][side.label]
        drawn.append({key: [(x, y * per) for x, y in curve[key]] for key in ("vertices", "line", "low", "high")})
        drawn[place]["points"] = [(point["x"], point["y"] * per) for point in curve["points"]]
        drawn[place]["hollow"] = [point["disqualified"] for point in curve["points"]]
        drawn[place]["levels"] = _levels(curve["points"])
        drawn[place] |= {"label": side.label, "name": called[place], "colour": SIDES[place % len(SIDES)][0]}
    every = [spot for each in drawn for spot in each["points"]]
    if not every:
        ax.text(0.5, 0.5, "no point has a place on this axis", transform=ax.transAxes, ha="center", color=style.MUTED)
        return
    _scales(ax, every)
    for place, each in enumerate(drawn):
        _side(ax, each, MARKS[place % len(MARKS)], shaded=len(drawn) <= SHADED, crowded=len(every) > CROWDED)
    texts.write(ax, drawn)


def _levels(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """The load of each point, "" where an earlier one has said it."""
    said = [f"{point['level']:g}" for point in points]
    return [level if level not in said[:place] else "" for place, level in enumerate(said)]


def _scales(ax: Axes, every: Sequence[tuple[float, float]]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for place, (name, pick) in enumerate((("x", ax.xaxis), ("y", ax.yaxis))):
        values = [spot[place] for spot in every]
        log = max(values) > LOG_FROM * min(values)
        (ax.set_xscale if name == "x" else ax.set_yscale)("log" if log else "linear")
        limits = (min(values) / 1.25, max(values) * 1.25) if log else (0.0, max(values) * 1.1)
        (ax.set_xlim if name == "x" else ax.set_ylim)(*limits)
        if log:
            narrow = max(values) < NARROW * min(values)
            pick.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0) if narrow else (1.0, 2.0, 5.0)))
        pick.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        pick.set_minor_formatter(NullFormatter())


def _side(ax: Axes, each: Mapping[str, Any], mark: str, *, shaded: bool, crowded: bool) -> None:
    colour, corners = each["colour"], [*each["low"], *reversed(each["high"])]
    if shaded and len(corners) > 2:
        ax.fill([x for x, _ in corners], [y for _, y in corners], color=colour, alpha=0.14, linewidth=0, zorder=1.5)
    if shaded:
        for (left, above), (right, below) in zip(each["vertices"], each["vertices"][1:], strict=False):
            ax.fill([left, right, right, left], [above, above, below, below], color=colour, alpha=0.09, linewidth=0, zorder=1)
    ax.plot([x for x, _ in each["line"]], [y for _, y in each["line"]], color=colour, linewidth=1.1, zorder=3)
    for (x, y), hollow in zip(each["points"], each["hollow"], strict=True):
        face = style.PAPER if hollow else colour
        ax.plot([x], [y], mark, ms=4 if crowded else 6, mfc=face, mec=colour, mew=1.4, zorder=4)
