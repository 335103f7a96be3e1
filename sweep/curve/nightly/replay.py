"""All nights in turn, each judged by those before it: what was suspected, what was confirmed, since when, and what came back.

A night that raises no suspicion is accepted into the baseline. One that does is held back, with those after it, until they
confirm (a change: a new level begins) or `PATIENCE` nights have not (the night stays out, those after it come in). A change is
open until its level has been learned; nights at the old level end it sooner, and the old baseline holds again. While it is
open, figures that it does not cover are still judged by the level before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from sweep.curve.nightly import alarm, dating
from sweep.curve.nightly.alarm import Key, Shares
from sweep.curve.nightly.metric import Metric
from sweep.curve.nightly.notices import notices
from sweep.curve.nightly.series import Floats, Series, median
from sweep.curve.nightly.timeline import Band
from sweep.curve.nightly.tracks import MIN_NIGHTS, Reference, curve_track, point_track, reference
from sweep.model import Change, Finding, Judgement, Night, NightVerdict, Suspect

BASELINE_NIGHTS = 20
SPREAD_NIGHTS = 60  # a night's noise is a property of the rig: it is learned over longer than the level
DATED_OVER = 60
PATIENCE = 2
RETURN = 2  # nights that, averaged, end a change …
NEAR = 0.4  # … when no more than so much of it is left

Outcome = tuple[NightVerdict, Sequence[Suspect]]


@dataclass(frozen=True, slots=True)
class Rules:
    metrics: tuple[Metric, ...]
    nights_per_alarm: int = 120
    baseline_nights: int = BASELINE_NIGHTS
    fixed: Night | None = None  # compare with this one night instead of the last ones


@dataclass(slots=True)
class Replay:
    """The state between two nights. Nights are named by their place."""

    nights: Sequence[Night]
    rules: Rules
    table: Series
    fixed: Floats | None
    failures: Sequence[alarm.Failures]
    levels: list[list[int]] = field(default_factory=lambda: [[]])  # accepted nights, level by level
    held: list[int] = field(default_factory=list)  # since the oldest pending suspicion
    suspicious: set[int] = field(default_factory=set)  # nights that raised a suspicion
    pending: dict[Key, tuple[int, Suspect]] = field(default_factory=dict)  # with the night that raised it
    open: Change | None = None
    changes: list[Change] = field(default_factory=list)
    befores: list[Reference] = field(default_factory=list)  # what each change is measured against …
    starts: list[int] = field(default_factory=list)  # … and the first night of that level
    judged: list[Judgement] = field(default_factory=list)
    bands: list[Band | None] = field(default_factory=list)

    def step(self, night: int) -> None:
        baseline = self.baseline()
        findings = notices(self.nights, night, [self.failures[each] for each in baseline])
        self.bands.append(None)
        if self.open is not None:
            verdict, suspects = self.follow(night, self.open, findings)
        elif len(baseline) < MIN_NIGHTS:
            verdict, suspects = self.learn(night, findings)
        else:
            verdict, suspects = self.test(night, findings)
        self.judged.append(
            Judgement(verdict=verdict, baseline=len(baseline), suspects=tuple(suspects), findings=tuple(findings))
        )

    def baseline(self) -> list[int]:
        return self.levels[-1][-self.rules.baseline_nights :]

    def shown_against(self) -> list[int]:
        """The baseline, or while a change is open that of the level before: what a reader wants tonight compared with."""
        level = self.levels[-1] if self.open is None else self.levels[-2]
        return level[-self.rules.baseline_nights :]

    def has_figures(self, night: int) -> bool:
        return bool(np.isfinite(self.table.y[night]).any())

    def against(self) -> Reference:
        """The last nights of the present level; their noise from up to `SPREAD_NIGHTS` nights, each among those of its level."""
        blocks: list[list[int]] = []
        for level in reversed(self.levels):
            for end in range(len(level), 0, -BASELINE_NIGHTS):
                block = level[max(0, end - BASELINE_NIGHTS) : end]
                if len(block) >= MIN_NIGHTS and sum(map(len, blocks)) < SPREAD_NIGHTS:
                    blocks.append(block)
        return reference(self.table.y, self.baseline(), blocks, self.fixed)

    # --- the three states of a history ---------------------------------------------------------------------------

    def learn(self, night: int, findings: list[Finding]) -> Outcome:
        if not self.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", ()
        self.levels[-1].append(night)
        return "learning", ()

    def test(self, night: int, findings: list[Finding]) -> Outcome:
        against = self.against()
        allowed = self.allowed(night, against)
        self.bands[-1] = self.band(night, against, allowed)
        suspects = alarm.raised(self.table, against, night, allowed) + self.errors([night])
        proven = self.confirmed(against, [*self.held, night])
        if proven:
            return self.change(night, against, proven)
        self.held.append(night)
        self.wait(night, suspects, self.held, findings)
        if not self.pending:
            self.levels[-1] += [each for each in self.held if each not in self.suspicious and self.has_figures(each)]
            self.held.clear()
        if not against.judgeable(self.table.y[night]):
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", suspects
        waiting = [suspect for _, suspect in self.pending.values()]
        return ("suspected" if any(suspect.direction == "worse" for suspect in waiting) else "ok"), waiting

    def follow(self, night: int, change: Change, findings: list[Finding]) -> Outcome:
        """A night after a confirmed change: at the old level again, one more at the new, or with a loss of its own."""
        if not self.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return _verdict(change), self.in_force()
        before, level = self.befores[-1], self.levels[-1]
        level.append(night)
        if self.returned(change, before, level):
            return self.end(change, findings)
        further = [
            suspect
            for suspect in alarm.raised(self.table, before, night, self.allowed(night, before))
            if suspect.direction == "worse" and not alarm.covered(self.standing(len(self.changes)), suspect)
        ]
        proven = self.confirmed(before, level)
        if proven:
            return self.go_on(night, change, proven)
        self.wait(night, further, level, findings)
        if night - change.confirmed >= MIN_NIGHTS and len(level) >= MIN_NIGHTS:
            self.open = None
            self.pending.clear()
        return _verdict(change), self.in_force()

    # --- suspicions ----------------------------------------------------------------------------------------------

    def allowed(self, night: int, against: Reference) -> Shares:
        return alarm.shares(self.rules.nights_per_alarm, len(self.rules.metrics), against.judgeable(self.table.y[night]))

    def band(self, night: int, against: Reference, allowed: Shares) -> Band:
        tested = curve_track(against, self.table.y[night : night + 1])
        limit = [alarm.limit(metric, tested, place, allowed.curve) for place, metric in enumerate(self.rules.metrics)]
        return Band(tested.effect, np.array(limit))

    def errors(self, nights: Sequence[int]) -> list[Suspect]:
        jump = alarm.error_jump([self.failures[each] for each in self.baseline()], [self.failures[each] for each in nights])
        return [jump] if jump else []

    def confirmed(self, against: Reference, nights: Sequence[int]) -> list[Suspect]:
        """Pending suspicions that those of the nights that came after them bear out."""
        proven: list[Suspect] = []
        suspects = [suspect for _, suspect in self.pending.values()]
        for suspected in sorted({since for since, _ in self.pending.values()}):
            later = [each for each in nights if each > suspected]
            again = alarm.confirmed(self.table, against, later, suspects) + self.errors(later)
            proven += [found for found in again if self.pending.get(alarm.key(found), (None,))[0] == suspected]
        return proven

    def wait(self, night: int, suspects: Sequence[Suspect], nights: Sequence[int], findings: list[Finding]) -> None:
        """Suspicions that ran out of patience are dropped, tonight's are added."""
        since = {since for since, _ in self.pending.values()}
        expired = {each for each in since if sum(later > each for later in nights) >= PATIENCE}
        self.pending = {known: each for known, each in self.pending.items() if each[0] not in expired}
        findings += [Finding(code="not-confirmed", data={"night": self.nights[each].at[:10]}) for each in sorted(expired)]
        for suspect in suspects:
            self.pending.setdefault(alarm.key(suspect), (night, suspect))
        self.suspicious |= {night} if suspects else set()

    # --- changes -------------------------------------------------------------------------------------------------

    def change(self, night: int, before: Reference, proven: Sequence[Suspect]) -> Outcome:
        """A new level begins, where dating puts it. Of losses and gains together, the losses are the change."""
        change = self.proven(night, proven, self.levels[-1][0])
        known = (*self.levels[-1], *self.held, night)
        self.levels[-1] = [each for each in self.levels[-1] if each < change.began]
        self.levels.append([each for each in known if each >= change.began and self.has_figures(each)])
        self.held.clear()
        return self.add(change, before, known[0])

    def go_on(self, night: int, change: Change, proven: Sequence[Suspect]) -> Outcome:
        """More is proven while a change is open: as much of the same one, or another, whose nights are then the new level."""
        further = self.proven(night, proven, self.starts[-1])
        if change.direction == "worse" and further.began <= change.confirmed:
            self.changes[-1] = self.open = msgspec.structs.replace(change, suspects=(*change.suspects, *further.suspects))
            self.pending.clear()
            return "regressed", self.in_force()
        self.levels[-1] = [each for each in self.levels[-1] if each >= further.began]
        return self.add(further, self.befores[-1], self.starts[-1])

    def proven(self, night: int, proven: Sequence[Suspect], start: int) -> Change:
        worse = [suspect for suspect in proven if suspect.direction == "worse"]
        suspects = worse or list(proven)
        suspected = min(self.pending[alarm.key(suspect)][0] for suspect in suspects)
        made = Change(
            direction="worse" if worse else "better",
            began=suspected,
            suspected=suspected,
            confirmed=night,
            ended=None,
            suspects=tuple(suspects),
        )
        return msgspec.structs.replace(made, began=self.date(made, start, night))

    def add(self, change: Change, before: Reference, start: int) -> Outcome:
        self.open = change
        self.changes.append(change)
        self.befores.append(before)
        self.starts.append(start)
        self.pending.clear()
        return _verdict(change), self.in_force()

    def in_force(self) -> list[Suspect]:
        """Every figure that changed since the level that the open change is measured against."""
        return [suspect for change in self.standing(len(self.changes)) for suspect in change.suspects]

    def date(self, change: Change, start: int, until: int) -> int:
        """When the strongest of the suspects began: in the last `DATED_OVER` nights of its level, up to and with `until`."""
        start = max(start, until - DATED_OVER)
        strongest = min(change.suspects, key=lambda suspect: suspect.p)
        if strongest.track == "errors":
            return change.suspected
        row, column = self.place(strongest)
        values = self.table.y[start : until + 1, row]
        began = start + dating.began(median(values - median(values, 0), -1) if column is None else values[:, column])
        return began if began >= start + MIN_NIGHTS else change.suspected

    def in_hindsight(self, place: int) -> Change:
        """A change with what the nights after it say: its beginning, and all that moved with it."""
        change = self.changes[place]
        following = [later.began for later in self.changes[place + 1 : place + 2]]
        until = min([len(self.nights), change.confirmed + MIN_NIGHTS, change.ended or len(self.nights), *following]) - 1
        until = max(until, change.confirmed)
        began = self.date(change, self.starts[place], until)
        since = [each for each in range(began, until + 1) if self.has_figures(each)]
        early = [each for each in since if each <= change.confirmed]
        suspects = alarm.in_full(self.table, self.befores[place], early, since, change) if early else change.suspects
        own, earlier = {alarm.key(one) for one in change.suspects}, self.standing(place)
        news = tuple(one for one in suspects if alarm.key(one) in own or not alarm.covered(earlier, one))
        return msgspec.structs.replace(change, began=began, suspects=news)

    def standing(self, place: int) -> list[Change]:
        """The changes before this place that are measured against the same level as the latest of them."""
        same = self.befores[min(place, len(self.befores) - 1)]
        return [change for change, before in zip(self.changes[:place], self.befores, strict=False) if before is same]

    def returned(self, change: Change, before: Reference, level: Sequence[int]) -> bool:
        """Whether the last nights lie, in every changed figure, at the level before: under `NEAR` of the way to the new one."""
        recent, earlier = level[-RETURN:], level[:-RETURN]
        if len(recent) < RETURN or recent[0] <= change.confirmed:
            return False
        return all(self.moved(before, recent, one) < NEAR * self.size(before, earlier, one) for one in self.in_force())

    def size(self, against: Reference, nights: Sequence[int], suspect: Suspect) -> float:
        """How large a change is by its nights. A night of failures may have no figures at all: there, what was confirmed."""
        if suspect.track == "errors":
            return suspect.change
        return self.moved(against, nights, suspect) if nights else float("nan")

    def moved(self, against: Reference, nights: Sequence[int], suspect: Suspect) -> float:
        """How far these nights lie from the reference in one figure, in the direction of the suspicion."""
        if suspect.track == "errors":
            failed, asked = alarm.pooled(self.failures[each] for each in nights)
            return failed / asked if asked else float("nan")
        row, column = self.place(suspect)
        y = self.table.y[list(nights)]
        effect = curve_track(against, y).effect[row] if column is None else point_track(against, y).effect[row, column]
        return float(effect) if suspect.direction == "worse" else -float(effect)

    def place(self, suspect: Suspect) -> tuple[int, int | None]:
        """The metric's place in the table, and the load's."""
        row = [metric.name for metric in self.rules.metrics].index(suspect.metric)
        labels = [load.label for load in self.table.loads]
        return row, None if suspect.cell is None else labels.index(suspect.cell)

    def end(self, change: Change, findings: list[Finding]) -> Outcome:
        """The old level again. After an improvement that is a loss, proven by the nights that show it."""
        back = self.levels.pop()[-RETURN:]
        self.levels[-1] += back
        standing = self.standing(len(self.changes))
        self.changes = [msgspec.structs.replace(one, ended=back[0]) if one in standing else one for one in self.changes]
        findings.append(Finding(code="recovered", data={"night": self.nights[change.began].at[:10]}))
        self.open = None
        self.pending.clear()
        return ("ok", ()) if change.direction == "worse" else ("regressed", [alarm.undone(one) for one in change.suspects])


def _verdict(change: Change) -> NightVerdict:
    return "regressed" if change.direction == "worse" else "improved"
