"""A curve as one figure: throughput against how fast one answer comes, end-to-end latency and time to first token.

Colour says which percentile: medians blue, p99 orange. Hollow points are disqualified, faint ones have too few samples for
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
from sweep.report.pace import STREAMED, pace
from sweep.report.panel import Panel, Read, Series, draw, letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEFT = 0.065  # of the figure: headings, axes and notes share this edge


def _latency(name: str, statistic: str) -> Read:
    return lambda point: quantity.metric(point, name, statistic)


def panels(points: Sequence[Point]) -> tuple[Panel, ...]:
    """The large one and the two beside it."""
    how_fast = pace(points)
    return (
        Panel(
            f"Throughput against {how_fast.name}",
            f"{how_fast.name}, {{rate}}/user ({how_fast.how})  →  better",
            "no time per output token: answers of one token, or none streamed",
            (Series("p50", how_fast.read, style.TYPICAL),),
            "tpot" if how_fast is STREAMED else None,
            True,
        ),
        Panel(
            "Throughput against E2E latency",
            "better  ←  end-to-end latency, s",
            "no end-to-end latency: no request succeeded",
            (Series("p99", _latency("e2e_s", "p99"), style.TAIL),),
            "e2e",
            False,
        ),
        Panel(
            "Throughput against TTFT",
            "better  ←  time to first token, s",
            "no time to first token: nothing was streamed",
            (
                Series("p50", _latency("ttft_s", "p50"), style.TYPICAL),
                Series("p99", _latency("ttft_s", "p99"), style.TAIL),
            ),
            "ttft",
            False,
        ),
    )


def figure(curve: Curve, *, heading: bool = True) -> Figure:
    """The figure of a curve, however few points it has; without `heading` for a page that has its own."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    curve = harmless(curve)
    with _drawing():
        top, height = (0.84, style.HEIGHT_INCHES) if heading else (0.93, style.HEIGHT_INCHES * 0.93)
        drawn = Figure(figsize=(style.WIDTH_INCHES, height))
        FigureCanvasAgg(drawn)
        grid = drawn.add_gridspec(
            2, 2, width_ratios=(1.5, 1), left=LEFT, right=0.985, top=top, bottom=0.15, wspace=0.16, hspace=0.48
        )
        axes = (drawn.add_subplot(grid[:, 0]), drawn.add_subplot(grid[0, 1]), drawn.add_subplot(grid[1, 1]))
        if heading:
            _heading(drawn, curve)
        _notes(drawn, curve)
        points = quantity.by_load(curve.points)
        for panel, ax in zip(panels(points), axes, strict=True):
            draw(ax, panel, points, curve)
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
    text(LEFT, 0.965, _short(curve.endpoint.model, 70), fontsize=15, weight="bold", va="top", parse_math=False)
    text(LEFT, 0.915, _short("  ·  ".join(parts), 130), fontsize=9.5, color=style.MUTED, va="top", parse_math=False)


def _notes(drawn: Figure, curve: Curve) -> None:
    text: Any = drawn.text
    load = "requests in flight" if curve.plan.kind == "closed" else "requests per second"
    notes = [f"numbers at the points: {load}", "bars: 95 % intervals", "hollow: disqualified", "faint: too few requests"]
    text(LEFT, 0.02, "   ·   ".join(notes), fontsize=8, color=style.MUTED)
    goals = "   ·   ".join(f"{letter} {quantity.slo_name(slo)}".strip() for letter, slo in letters(curve))
    text(LEFT, 0.047, _short(goals, 150), fontsize=8, color=style.GOAL, parse_math=False)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
