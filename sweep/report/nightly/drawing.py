"""What the pictures of a history share: their size, their time axis, and how they become files.

The last nights are shown, at most `SHOWN`. Blue is what was measured, orange what got worse, green what got better.
Titles stand at the right, above the latest night: that is what a narrow screen shows first.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.model import Direction, History
from sweep.report import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 120
WIDTH_INCHES = 9.0
COLOURS: dict[Direction, str] = {"worse": style.TAIL, "better": style.GOAL}
TITLE: dict[str, Any] = {"loc": "right", "fontsize": 10, "weight": "bold", "color": style.INK}
Draw = Callable[["Figure", History, int], None]  # (where, what, the first night shown)


def figure(history: History, height: float, draw: Draw) -> Figure:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(style.RC):
        made = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
        FigureCanvasAgg(made)
        draw(made, history, max(0, len(history.nights) - SHOWN))
        return made


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


def days(history: History) -> np.ndarray:
    """matplotlib's dates: days since 1970."""
    return np.array([night.at_s / 86_400 for night in history.nights])


def usual_gap(at: np.ndarray) -> float:
    return float(np.median(np.diff(at))) if len(at) > 1 else 1.0


def broken(at: np.ndarray, *rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same with a NaN after each night that is followed by missing ones."""
    usual = usual_gap(at)
    breaks = np.flatnonzero(np.diff(at) > 1.5 * usual) + 1
    return np.insert(at, breaks, at[breaks - 1] + usual), *(np.insert(row, breaks, np.nan) for row in rows)


def time_axis(ax: Axes, history: History, first: int) -> None:
    from matplotlib import dates

    typed: Any = dates
    locator = typed.AutoDateLocator(minticks=3, maxticks=9)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(typed.ConciseDateFormatter(locator))
    at = days(history)[first:]
    if len(at) > 1:
        margin = 0.01 * (at[-1] - at[0])
        ax.set_xlim(at[0] - margin, at[-1] + margin)


def signed(value: float, unit: str = "") -> str:
    """`+5`, `−2.5`, `0`, with a true minus."""
    return f"{value:+.3g}{unit}".replace("-", "−") if value else "0"
