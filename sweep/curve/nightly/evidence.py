"""What nights show of a figure: how far they lie from a reference, and when a change of it began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from sweep.curve.nightly import alarm, dating
from sweep.curve.nightly.series import Series, median
from sweep.curve.nightly.tracks import MIN_NIGHTS, Reference, curve_track, point_track
from sweep.model import Change, Suspect

DATED_OVER = 60


@dataclass(frozen=True, slots=True)
class Evidence:
    """All nights side by side, named by their place: their figures, and how many of their requests failed."""

    table: Series
    failures: Sequence[alarm.Failures]

    def has_figures(self, night: int) -> bool:
        return bool(np.isfinite(self.table.y[night]).any())

    def jump(self, baseline: Sequence[int], nights: Sequence[int]) -> list[Suspect]:
        """A rise of failures that the baseline does not explain, or none."""
        jump = alarm.error_jump([self.failures[each] for each in baseline], [self.failures[each] for each in nights])
        return [jump] if jump else []

    def moved(self, against: Reference, nights: Sequence[int], suspect: Suspect) -> float:
        """How far these nights lie from the reference in one figure, in the direction of the suspicion."""
        if suspect.track == "errors":
            failed, asked = alarm.pooled(self.failures[each] for each in nights)
            return failed / asked if asked else float("nan")
        row, column = self._place(suspect)
        y = self.table.y[list(nights)]
        effect = curve_track(against, y).effect[row] if column is None else point_track(against, y).effect[row, column]
        return float(effect) if suspect.direction == "worse" else -float(effect)

    def on(self, night: int, against: Reference, baseline: Sequence[int], suspect: Suspect) -> Suspect:
        """A suspicion as this night alone shows it; as it was where the night does not have the figure."""
        if suspect.track == "errors":
            return alarm.error_rise([self.failures[each] for each in baseline], [self.failures[night]]) or suspect
        row, column = self._place(suspect)
        track, place = (curve_track, (row,)) if column is None else (point_track, (row, column))
        tested = track(against, self.table.y[night : night + 1])
        effect, p = tested.effect[place], (tested.p_worse if suspect.direction == "worse" else tested.p_better)[place]
        if not np.isfinite(effect):
            return suspect
        return msgspec.structs.replace(suspect, change=alarm.relative(self.table.metrics[row], float(effect)), p=float(p))

    def size(self, against: Reference, nights: Sequence[int], suspect: Suspect) -> float:
        """How large a change is by its nights. A night of failures may have no figures at all: there, what was confirmed."""
        if suspect.track == "errors":
            return suspect.change
        return self.moved(against, nights, suspect) if nights else float("nan")

    def began(self, change: Change, start: int, until: int) -> int:
        """When the strongest of the suspects began: in the last `DATED_OVER` nights of its level, up to and with `until`."""
        start = max(start, until - DATED_OVER)
        strongest = min(change.suspects, key=lambda suspect: suspect.p)
        if strongest.track == "errors":
            return change.suspected
        row, column = self._place(strongest)
        values = self.table.y[start : until + 1, row]
        found = start + dating.began(median(values - median(values, 0), -1) if column is None else values[:, column])
        return found if found >= start + MIN_NIGHTS else change.suspected

    def _place(self, suspect: Suspect) -> tuple[int, int | None]:
        """The metric's place in the table, and the load's; None for the whole curve."""
        row = [metric.name for metric in self.table.metrics].index(suspect.metric)
        labels = [load.label for load in self.table.loads]
        return row, None if suspect.cell is None else labels.index(suspect.cell)
