"""Did the endpoint change during the sweep? The first cell against its own repeat at the end."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.model import Estimate, Finding, Point

PRACTICAL = 0.05  # a smaller change is no news, however sure


def moved(points: Sequence[Point]) -> Finding | None:
    """The finding when the intervals of throughput or TPOT p50 lie apart and the values by more than 5 %."""
    qualified = sorted((point for point in points if not point.disqualified), key=lambda point: point.cell)
    again = [point for point in qualified if point.load == qualified[0].load and point.start == qualified[0].start]
    if len(again) < 2:
        return None
    first, last = again[0], again[-1]
    missing = Estimate(value=None)
    for what, before, after in (
        ("output tok/s", first.rates.get("output_tok_per_s", missing), last.rates.get("output_tok_per_s", missing)),
        (
            "TPOT p50 in s",
            first.metrics.get("tpot_s", {}).get("p50", missing),
            last.metrics.get("tpot_s", {}).get("p50", missing),
        ),
    ):
        if apart(before, after):
            return Finding(code="moved", data={"what": what, "first": before.value, "last": after.value})
    return None


def apart(a: Estimate, b: Estimate) -> bool:
    """Whether the intervals do not meet and the values differ by more than `PRACTICAL`; unbounded intervals always meet."""
    if a.value is None or b.value is None or a.few or b.few:
        return False
    low, high = (a, b) if a.value < b.value else (b, a)
    separate = low.high is not None and high.low is not None and low.high < high.low
    return separate and (high.value or 0.0) > (low.value or 0.0) * (1 + PRACTICAL)
