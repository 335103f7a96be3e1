"""By what rules a history is judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sweep.curve.nightly import night
from sweep.curve.nightly.metric import DEFAULT, Metric, parse
from sweep.curve.nightly.tracks import MIN_NIGHTS
from sweep.errors import UsageError
from sweep.model import Night

BASELINE_NIGHTS = 20
NIGHTS_PER_ALARM = 120


@dataclass(frozen=True, slots=True)
class Rules:
    metrics: tuple[Metric, ...]
    nights_per_alarm: int = NIGHTS_PER_ALARM
    baseline_nights: int = BASELINE_NIGHTS
    fixed: Night | None = None  # compare with this one night instead of the last ones


def rules(metrics: Iterable[str] = (), *, baseline: str | None = None, nights_per_alarm: int = NIGHTS_PER_ALARM) -> Rules:
    """`baseline`: `last:20`, or a curve file that every night is compared with. Raises UsageError, ArtifactError."""
    chosen = tuple(parse(name) for name in dict.fromkeys(metrics or DEFAULT))
    if nights_per_alarm < 1:
        raise UsageError(f"--nights-per-alarm {nights_per_alarm}: expected at least 1", "120 is one false alarm in four months")
    if baseline is None:
        return Rules(chosen, nights_per_alarm)
    if not baseline.startswith("last:"):
        return Rules(chosen, nights_per_alarm, fixed=night.read(Path(baseline)))
    count = baseline.removeprefix("last:")
    if not count.isdecimal() or int(count) < MIN_NIGHTS:
        raise UsageError(f"--baseline {baseline}: expected last:N with N of 8 or more", "last:20 is the default")
    return Rules(chosen, nights_per_alarm, int(count))
