"""All nights in turn, each judged by those before it: what was suspected, what was confirmed, since when, and what came back.

A night that raises no suspicion is accepted into the baseline. One that does is held back, with those after it, until they
confirm (a change: a new level begins) or `PATIENCE` nights have not (the night stays out, those after it come in). A change is
open until its level has been learned; two nights at the old level end it sooner, and the old baseline holds again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from sweep.curve.nightly import alarm, dating
from sweep.curve.nightly.alarm import Key
from sweep.curve.nightly.history import Comparable
from sweep.curve.nightly.metric import Metric
from sweep.curve.nightly.notices import notices
from sweep.curve.nightly.series import Floats, Series, median, series
from sweep.curve.nightly.timeline import Band, timelines
from sweep.curve.nightly.tracks import MIN_NIGHTS, Reference, curve_track, point_track, reference
from sweep.model import Change, Finding, History, Judgement, Night, NightVerdict, Suspect

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


def judge(group: Comparable, rules: Rules) -> History:
    """The history of comparable nights, replayed from the first."""
    nights = group.nights
    table, fixed = _tables(nights, rules)
    replay = _Replay(nights, rules, table, fixed)
    for night in range(len(nights)):
        replay.step(night)
    return History(
        title=group.title,
        nights=nights,
        judged=tuple(replay.judged),
        changes=tuple(replay.redated(place) for place in range(len(replay.changes))),
        timelines=timelines(table, replay.bands, replay.levels[-1], replay.baseline(), rules.nights_per_alarm),
        set_aside=group.set_aside,
        nights_per_alarm=rules.nights_per_alarm,
        unfair=group.unfair,
    )


def _tables(nights: Sequence[Night], rules: Rules) -> tuple[Series, Floats | None]:
    """The nights' figures, and those of the fixed baseline on the same loads."""
    if rules.fixed is None:
        return series(nights, rules.metrics), None
    both = series((*nights, rules.fixed), rules.metrics)
    return Series(both.metrics, both.loads, both.y[:-1]), both.y[-1]


@dataclass(slots=True)
class _Replay:
    nights: Sequence[Night]
    rules: Rules
    table: Series
    fixed: Floats | None
    levels: list[list[int]] = field(default_factory=lambda: [[]])  # accepted nights, level by level
    held: list[int] = field(default_factory=list)
    suspicious: set[int] = field(default_factory=set)  # nights that raised a suspicion
    pending: dict[Key, tuple[int, Suspect]] = field(default_factory=dict)  # with the night that raised it
    open: Change | None = None
    changes: list[Change] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # of the level before each change
    befores: list[Reference] = field(default_factory=list)  # what each change is measured against
    judged: list[Judgement] = field(default_factory=list)
    bands: list[Band | None] = field(default_factory=list)

    def step(self, night: int) -> None:
        baseline = self.baseline()
        findings = notices(self.nights, night, [self.nights[each] for each in baseline])
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

    def has_figures(self, night: int) -> bool:
        return bool(np.isfinite(self.table.y[night]).any())

    def against(self, levels: Sequence[list[int]]) -> Reference:
        """The last nights of the last level; their noise from up to `SPREAD_NIGHTS` nights, each among those of its level."""
        blocks: list[list[int]] = []
        for level in reversed(levels):
            for end in range(len(level), 0, -BASELINE_NIGHTS):
                block = level[max(0, end - BASELINE_NIGHTS) : end]
                if len(block) >= MIN_NIGHTS and sum(map(len, blocks)) < SPREAD_NIGHTS:
                    blocks.append(block)
        return reference(self.table.y, levels[-1][-self.rules.baseline_nights :], blocks, self.fixed)

    # --- the three states of a history ---------------------------------------------------------------------------

    def learn(self, night: int, findings: list[Finding]) -> Outcome:
        if not self.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", ()
        self.levels[-1].append(night)
        return "learning", ()

    def test(self, night: int, findings: list[Finding]) -> Outcome:
        against = self.against(self.levels)
        figures = against.judgeable(self.table.y[night])
        allowed = alarm.shares(self.rules.nights_per_alarm, len(self.rules.metrics), figures)
        self.bands[-1] = self.band(night, against, allowed.curve)
        suspects = alarm.raised(self.table, against, night, allowed) + self.errors([night])
        proven = self.confirmed(night, against)
        if proven:
            return self.change(night, proven), proven
        self.wait(night, suspects, findings)
        if not figures:
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", suspects
        waiting = [suspect for _, suspect in self.pending.values()]
        return ("suspected" if any(suspect.direction == "worse" for suspect in waiting) else "ok"), waiting

    def follow(self, night: int, change: Change, findings: list[Finding]) -> Outcome:
        """A night after a confirmed change: at the old level again, or one more at the new."""
        verdict: NightVerdict = "regressed" if change.direction == "worse" else "improved"
        if not self.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return verdict, change.suspects
        self.levels[-1].append(night)
        if self.returned(change):
            return self.end(night, change, findings)
        if night - change.confirmed >= MIN_NIGHTS and len(self.levels[-1]) >= MIN_NIGHTS:
            self.open = None
        return verdict, change.suspects

    # --- suspicions ----------------------------------------------------------------------------------------------

    def band(self, night: int, against: Reference, share: float) -> Band:
        tested = curve_track(against, self.table.y[night : night + 1])
        limit = [alarm.limit(metric, tested, place, share) for place, metric in enumerate(self.rules.metrics)]
        return Band(tested.effect, np.array(limit))

    def errors(self, nights: Sequence[int]) -> list[Suspect]:
        jump = alarm.error_jump([self.nights[each] for each in self.baseline()], [self.nights[each] for each in nights])
        return [jump] if jump else []

    def since(self, suspected: int, night: int) -> list[int]:
        """The nights after a suspicion, up to tonight."""
        return [each for each in (*self.held, night) if each > suspected]

    def confirmed(self, night: int, against: Reference) -> list[Suspect]:
        """Suspicions that the nights after them, tonight included, bear out."""
        proven: list[Suspect] = []
        suspects = [suspect for _, suspect in self.pending.values()]
        for suspected in sorted({since for since, _ in self.pending.values()}):
            later = self.since(suspected, night)
            again = alarm.confirmed(self.table, against, later, suspects) + self.errors(later)
            proven += [found for found in again if self.pending.get(alarm.key(found), (None,))[0] == suspected]
        return proven

    def wait(self, night: int, suspects: Sequence[Suspect], findings: list[Finding]) -> None:
        """Suspicions that ran out of patience are dropped, tonight's are added; nights are held while any is left."""
        expired = {since for since, _ in self.pending.values() if len(self.since(since, night)) >= PATIENCE}
        self.pending = {known: each for known, each in self.pending.items() if each[0] not in expired}
        findings += [Finding(code="not-confirmed", data={"night": self.nights[each].at[:10]}) for each in sorted(expired)]
        for suspect in suspects:
            self.pending.setdefault(alarm.key(suspect), (night, suspect))
        self.suspicious |= {night} if suspects else set()
        self.held.append(night)
        if not self.pending:
            self.levels[-1] += [each for each in self.held if each not in self.suspicious and self.has_figures(each)]
            self.held.clear()

    # --- changes -------------------------------------------------------------------------------------------------

    def change(self, night: int, proven: Sequence[Suspect]) -> NightVerdict:
        """A new level begins, where dating puts it."""
        worse = [suspect for suspect in proven if suspect.direction == "worse"]
        suspects = worse or list(proven)
        suspected = min(self.pending[alarm.key(suspect)][0] for suspect in suspects)
        self.starts.append(self.levels[-1][0])
        self.open = Change(
            direction="worse" if worse else "better",
            began=suspected,
            suspected=suspected,
            confirmed=night,
            ended=None,
            suspects=tuple(suspects),
        )
        self.open = msgspec.structs.replace(self.open, began=self.date(self.open, self.starts[-1], night))
        self.changes.append(self.open)
        known = (*self.levels[-1], *self.held, night)
        self.levels[-1] = [each for each in self.levels[-1] if each < self.open.began]
        self.befores.append(self.against(self.levels))
        self.levels.append([each for each in known if each >= self.open.began and self.has_figures(each)])
        self.pending.clear()
        self.held.clear()
        return "regressed" if worse else "improved"

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

    def redated(self, place: int) -> Change:
        """With what the nights after it say as well."""
        change = self.changes[place]
        following = [later.began for later in self.changes[place + 1 : place + 2]]
        until = min([len(self.nights), change.confirmed + MIN_NIGHTS, change.ended or len(self.nights), *following]) - 1
        until = max(until, change.confirmed)
        began = self.date(change, self.starts[place], until)
        since = [each for each in range(began, until + 1) if self.has_figures(each)]
        suspects = alarm.in_full(self.table, self.befores[place], since, change) if since else change.suspects
        return msgspec.structs.replace(change, began=began, suspects=suspects)

    def returned(self, change: Change) -> bool:
        """Whether the last nights lie, in every changed figure, at the level before: under `NEAR` of the way to the new one."""
        recent, earlier = self.levels[-1][-RETURN:], self.levels[-1][:-RETURN]
        if not earlier or recent[0] <= change.confirmed:
            return False
        against = self.against(self.levels[:-1])
        return all(
            self.moved(against, recent, suspect) < NEAR * self.moved(against, earlier, suspect) for suspect in change.suspects
        )

    def moved(self, against: Reference, nights: Sequence[int], suspect: Suspect) -> float:
        """How far these nights lie from the reference in one figure, in the direction of the suspicion."""
        if suspect.track == "errors":
            failed, asked = alarm.error_share([self.nights[each] for each in nights])
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

    def end(self, night: int, change: Change, findings: list[Finding]) -> Outcome:
        """The old level again. After an improvement that is a loss, proven by the nights that show it."""
        back = self.levels.pop()[-RETURN:]
        self.levels[-1] += back
        self.changes[-1] = msgspec.structs.replace(change, ended=back[0])
        findings.append(Finding(code="recovered", data={"night": self.nights[change.began].at[:10]}))
        self.open = None
        return ("ok" if change.direction == "worse" else "regressed"), ()
