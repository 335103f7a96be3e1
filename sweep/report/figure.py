"""A curve as one figure: throughput against how fast one user is served, and beside it against each latency.

Colour says which percentile: p99 orange, those below blue. Hollow points are disqualified, faint ones have too few samples for
the percentile drawn. matplotlib is used through its objects, never through pyplot, so nothing global changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.model import Curve, Point
from sweep.report import quantity, style
from sweep.report.foreign import harmless
from sweep.report.goals import letters
from sweep.report.marks import Read, Series
from sweep.report.pace import pace, streamed
from sweep.report.panel import Panel, draw
from sweep.wording import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEFT = 0.065  # of the figure: headings, axes and notes share this edge
HEADING_INCHES = 0.75


def _latency(name: str, statistic: str) -> Read:
    return lambda point: quantity.metric(point, name, statistic)


def panels(points: Sequence[Point]) -> tuple[Panel, ...]:
    """The large one and those beside it."""
    how_fast = pace(points)
    large = Panel(
        "Throughput against speed for each user",
        f"{how_fast.label}  →  better",
        "no place on this axis: no request succeeded",
        (Series(how_fast.statistic, how_fast.read, style.TYPICAL),),
        None,
        True,
    )
    latencies = (
        ("ttft_s", "TTFT", "time to first token, s", "no time to first token: nothing was streamed"),
        ("tpot_s", "TPOT", "time per output token, s", "no time per output token: answers of one token, or none streamed"),
        ("e2e_s", "E2E", "end-to-end latency, s", "no end-to-end latency: no request succeeded"),
    )
    beside = [
        Panel(
            f"Throughput against {title}",
            f"better  ←  {label}",
            missing,
            (Series("p50", _latency(name, "p50"), style.TYPICAL), Series("p99", _latency(name, "p99"), style.TAIL)),
            name.removesuffix("_s"),
            False,
        )
        for name, title, label, missing in latencies
        if name == "e2e_s" or streamed(points)
    ]
    return (large, *beside)


def figure(curve: Curve, *, heading: bool = True) -> Figure:
    """The figure of a curve, however few points it has; without `heading` for a page that has its own."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curve = harmless(curve)
    with _drawing():
        shown = panels(curve.points)
        height = style.TALL_INCHES if heading else style.TALL_INCHES - HEADING_INCHES
        drawn = Figure(figsize=(style.WIDTH_INCHES, height))
        FigureCanvasAgg(drawn)
        grid = drawn.add_gridspec(
            2,
            len(shown) - 1,
            height_ratios=(1.45, 1),
            left=LEFT,
            right=0.985,
            top=1 - (0.35 + (HEADING_INCHES if heading else 0)) / height,
            bottom=1.0 / height,
            wspace=0.2,
            hspace=0.36,
        )
        axes = [drawn.add_subplot(grid[0, :]), *(drawn.add_subplot(grid[1, place]) for place in range(len(shown) - 1))]
        if heading:
            _heading(drawn, curve)
        _notes(drawn, curve)
        points = quantity.by_load(curve.points)
        for panel, ax in zip(shown, axes, strict=True):
            draw(ax, panel, points, curve)
        for ax in axes[2:]:
            ax.set_ylabel("")  # that of the first in the row
        return drawn


def save(curve: Curve, svg: Path, png: Path) -> None:
    """Both pictures of a curve; the same curve gives the same bytes of SVG."""
    drawn = figure(curve)
    with _drawing():
        svg.write_bytes(_svg(drawn))
        drawn.savefig(png, format="png", dpi=style.PNG_DPI, metadata={"Software": None})


def svg_text(curve: Curve) -> str:
    """The figure as SVG, for a page that carries it inline."""
    with _drawing():
        return _svg(figure(curve, heading=False)).decode()


@contextmanager
def _drawing() -> Iterator[None]:
    """Our settings, whatever the user's are; a name in a script the font lacks is drawn as boxes, without a warning."""
    import matplotlib as mpl

    with mpl.rc_context(style.RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
        yield


def _svg(drawn: Figure) -> bytes:
    held = BytesIO()
    drawn.savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    return held.getvalue()


def _heading(drawn: Figure, curve: Curve) -> None:
    where = "simulated endpoint" if curve.endpoint.simulated else curve.endpoint.server or curve.endpoint.url
    parts = [f"profile {curve.profile.name}", where, curve.created_at[:10]]
    text: Any = drawn.text
    top = drawn.get_figheight()
    text(LEFT, 1 - 0.22 / top, short(curve.endpoint.model, 70), fontsize=15, weight="bold", va="top", parse_math=False)
    text(LEFT, 1 - 0.55 / top, short("  ·  ".join(parts), 130), fontsize=9.5, color=style.MUTED, va="top", parse_math=False)


def _notes(drawn: Figure, curve: Curve) -> None:
    text: Any = drawn.text
    height = drawn.get_figheight()
    load = "requests in flight" if curve.plan.kind == "closed" else "requests per second"
    notes = [f"numbers at the points: {load}", "bars: 95 % intervals", "hollow: disqualified", "faint: too few requests"]
    text(LEFT, 0.13 / height, "   ·   ".join(notes), fontsize=8, color=style.MUTED)
    goals = "   ·   ".join(f"{letter} {quantity.slo_name(slo)}".strip() for letter, slo in letters(curve))
    text(LEFT, 0.31 / height, short(goals, 150), fontsize=8, color=style.GOAL, parse_math=False)
