"""Did the endpoint change during the sweep? Loads against their own repeats: the first at the end, vertices when confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sweep.model import Estimate, Finding, Point

PRACTICAL = 0.05  # a smaller change is no news, however sure


def moved(points: Sequence[Point]) -> Finding | None:
    """The finding when the intervals of throughput or TPOT p50 lie apart and the values by more than 5 %."""
    qualified = sorted((point for point in points if not point.disqualified), key=lambda point: point.cell)
    again = [point for point in qualified if point.load == qualified[0].load and point.start == qualified[0].start]
    if len(again) < 2:
        return None
    for what, before, after in _changes(again[0], again[-1]):
        return Finding(code="moved", data={"what": what, "first": before, "last": after})
    return None


def unconfirmed(points: Sequence[Point]) -> list[Finding]:
    """Loads, but the first cell's, whose latest repeat says otherwise than their first measurement."""
    qualified = sorted((point for point in points if not point.disqualified), key=lambda point: point.cell)
    found = []
    for load in dict.fromkeys(point.load for point in qualified[1:]):
        own = [point for point in qualified if point.load == load]
        if load != qualified[0].load and len(own) > 1:
            for what, before, after in _changes(own[0], own[-1]):
                data = {"what": what, "load": load.label, "first": before, "again": after}
                found.append(Finding(code="unconfirmed", data=data))
    return found


def _changes(first: Point, last: Point) -> Iterator[tuple[str, float | None, float | None]]:
    """What lies apart, and its values."""
    series = {
        "output throughput": [point.rate("output_tok_per_s") for point in (first, last)],
        "TPOT p50 in s": [point.statistic("tpot_s", "p50") for point in (first, last)],
    }
    for what, (before, after) in series.items():
        if apart(before, after):
            yield what, before.value, after.value


def apart(a: Estimate, b: Estimate) -> bool:
    """Whether the intervals do not meet and the values differ by more than `PRACTICAL`; unbounded intervals always meet."""
    if a.value is None or b.value is None or a.few or b.few:
        return False
    low, high = (a, b) if a.value < b.value else (b, a)
    separate = low.high is not None and high.low is not None and low.high < high.low
    return separate and (high.value or 0.0) > (low.value or 0.0) * (1 + PRACTICAL)
