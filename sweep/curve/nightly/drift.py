"""A loss too slow for any one night: the cumulative sum of the curve statistic against a frozen reference. It only advises.

S = max(0, S + z − `SLACK`) after Page (1954), "Continuous inspection schemes", Biometrika 41. The reference is the first
`REFERENCE_NIGHTS` of a level and stays, or a drift would pull it along. One night counts for `CAP` spreads at the most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.curve.nightly.series import Floats

REFERENCE_NIGHTS = 20
SLACK = 0.5
CAP = 3.0

THRESHOLDS: tuple[tuple[int, float], ...] = (
    (30, 2.2),
    (60, 3.1),
    (120, 4.3),
    (240, 5.9),
    (480, 8.1),
    (960, 11.4),
    (1920, 16.6),
    (3840, 25.1),
)
"""Nights per false advice of one metric, and the sum that is crossed so often by chance: `python -m bench.calibrate_drift`."""


def threshold(nights_per_advice: float) -> float:
    """Between the table's rows by logarithms; its ends hold beyond."""
    nights, sums = zip(*THRESHOLDS, strict=True)
    return float(np.interp(np.log(nights_per_advice), np.log(nights), sums))


def begins(z: Floats, nights: Sequence[int], limit: float) -> int | None:
    """The night from which the sum that first crosses `limit` rose from zero; None while none does. NaN is no evidence."""
    total, since = 0.0, None
    for night in nights:
        if not np.isfinite(z[night]):
            continue
        total = max(0.0, total + min(float(z[night]), CAP) - SLACK)
        since = None if total == 0.0 else night if since is None else since
        if total > limit:
            return since
    return None
