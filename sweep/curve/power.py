"""What a system draws, in watts: measured where its points hold energy, declared for one accelerator elsewhere.

A declaration counts whatever its author counts, the board alone or an accelerator's share of the building; a measurement counts
the accelerators. So the two are never put against each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sweep.curve.setup import number
from sweep.errors import UsageError
from sweep.model import Curve, Point

_POWER = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>W|kW)?", re.IGNORECASE)


def parse(text: str) -> tuple[str, float]:
    """`A=700`, `A=700W`, `A=1.4kW`: watts of one accelerator. Raises UsageError."""
    label, equals, rest = text.partition("=")
    match = _POWER.fullmatch(rest.strip())
    if not equals or not label.strip() or match is None or not float(match["amount"]):
        raise UsageError(f"--power {text}: expected LABEL=WATTS", "A=700 is what one accelerator draws; A=1.4kW with its unit")
    return label.strip(), float(match["amount"]) * (1000 if (match["unit"] or "").lower() == "kw" else 1)


def stated_w(curve: Curve) -> float | None:
    """Of one accelerator, as the curve file declares it."""
    return number(curve.hardware, "power_w") or None


def measured_w(points: Sequence[Point]) -> float | None:
    """Of all accelerators, the mean over the points' windows; None where one of them holds no energy."""
    drawn = [
        point.energy_j / point.window.seconds
        for point in points
        if point.energy_j and point.energy_j > 0 and point.window is not None and point.window.seconds > 0
    ]
    return sum(drawn) / len(drawn) if drawn and len(drawn) == len(points) else None
