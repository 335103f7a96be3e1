"""How things look: one palette for figure, page and terminal, safe for the common colour-blindnesses (Okabe and Ito 2008).

A colour says which percentile is drawn, never which vendor. Each role has a hex value of its own, so the page can exchange
it for a CSS variable in dark mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INK = "#1c2128"
MUTED = "#667080"
RULE = "#d5dae1"
PAPER = "#ffffff"
TYPICAL = "#0072b2"  # medians, and the percentile of the frontier
TAIL = "#c2560a"  # p99
GOAL = "#00855f"  # service-level objectives

FAINT: Mapping[str, str] = {TYPICAL: "#a3cbe2", TAIL: "#e9bfa1"}
"""The same colour on points that decide nothing, and on intervals."""

DARK: Mapping[str, str] = {
    INK: "#e7eaee",
    MUTED: "#97a1af",
    RULE: "#363d47",
    PAPER: "#14171b",
    TYPICAL: "#56b4e9",
    TAIL: "#f0924a",
    GOAL: "#3fc79a",
    FAINT[TYPICAL]: "#2f5f7c",
    FAINT[TAIL]: "#7a4d31",
}
"""The same roles on a dark ground."""

NAMES: Mapping[str, str] = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    PAPER: "paper",
    TYPICAL: "typical",
    TAIL: "tail",
    GOAL: "goal",
    FAINT[TYPICAL]: "typical-faint",
    FAINT[TAIL]: "tail-faint",
}

FONT = "DejaVu Sans"  # ships with matplotlib: the same figure on every machine
WIDTH_INCHES, HEIGHT_INCHES, TALL_INCHES = 11.0, 6.6, 8.2
PNG_DPI = 144

RC: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": 9.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "sweep",
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "grid.alpha": 0.7,
    "figure.facecolor": PAPER,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "axes.unicode_minus": False,
}
"""matplotlib settings; `svg.hashsalt` makes element ids, and so the file, the same every time."""
