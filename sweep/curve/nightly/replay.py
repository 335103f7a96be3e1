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

from sweep.curve.nightly import alarm
from sweep.curve.nightly.alarm import Key, Shares
from sweep.curve.nightly.evidence import Evidence
from sweep.curve.nightly.hindsight import Confirmed, standing
from sweep.curve.nightly.notices import notices
from sweep.curve.nightly.rules import BASELINE_NIGHTS, Rules
from sweep.curve.nightly.series import Floats
from sweep.curve.nightly.timeline import Band
from sweep.curve.nightly.tracks import MIN_NIGHTS, Reference, curve_track, reference
from sweep.model import Change, Finding, Judgement, Night, NightVerdict, Suspect

SPREAD_NIGHTS = 60  # a night's noise is a property of the rig: it is learned over longer than the level
PATIENCE = 2
RETURN = 2  # nights that, averaged, end a change …
NEAR = 0.4  # … when no more than so much of it is left

Outcome = tuple[NightVerdict, Sequence[Suspect]]


@dataclass(slots=True)
class Replay:
    """The state between two nights. Nights are named by their place."""

    nights: Sequence[Night]
    rules: Rules
    evidence: Evidence
    fixed: Floats | None
    levels: list[list[int]] = field(default_factory=lambda: [[]])  # accepted nights, level by level
    held: list[int] = field(default_factory=list)  # since the oldest pending suspicion
    suspicious: set[int] = field(default_factory=set)  # nights that raised a suspicion
    pending: dict[Key, tuple[int, Suspect]] = field(default_factory=dict)  # with the night that raised it
    changes: list[Confirmed] = field(default_factory=list)
    is_open: bool = False  # the latest change
    judged: list[Judgement] = field(default_factory=list)
    bands: list[Band | None] = field(default_factory=list)

    def step(self, night: int) -> None:
        baseline = self.baseline()
        findings = notices(self.nights, night, [self.evidence.failures[each] for each in baseline])
        self.bands.append(None)
        if self.is_open:
            verdict, suspects = self.follow(night, self.changes[-1], findings)
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
        level = self.levels[-2] if self.is_open else self.levels[-1]
        return level[-self.rules.baseline_nights :]

    def against(self) -> Reference:
        """The last nights of the present level; their noise from up to `SPREAD_NIGHTS` nights, each among those of its level."""
        blocks: list[list[int]] = []
        for level in reversed(self.levels):
            for end in range(len(level), 0, -BASELINE_NIGHTS):
                block = level[max(0, end - BASELINE_NIGHTS) : end]
                if len(block) >= MIN_NIGHTS and sum(map(len, blocks)) < SPREAD_NIGHTS:
                    blocks.append(block)
        return reference(self.evidence.table.y, self.baseline(), blocks, self.fixed)

    # --- the three states of a history ---------------------------------------------------------------------------

    def learn(self, night: int, findings: list[Finding]) -> Outcome:
        if not self.evidence.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", ()
        self.levels[-1].append(night)
        return "learning", ()

    def test(self, night: int, findings: list[Finding]) -> Outcome:
        against = self.against()
        allowed = self.allowed(night, against)
        self.bands[-1] = self.band(night, against, allowed)
        suspects = alarm.raised(self.evidence.table, against, night, allowed) + self.evidence.jump(self.baseline(), [night])
        proven = self.confirmed(against, [*self.held, night])
        if proven:
            return self.change(night, against, proven)
        self.held.append(night)
        self.wait(night, suspects, self.held, findings)
        if not self.pending:
            accepted = [each for each in self.held if each not in self.suspicious and self.evidence.has_figures(each)]
            self.levels[-1] += accepted
            self.held.clear()
        if not against.judgeable(self.evidence.table.y[night]):
            findings.append(Finding(code="nothing-to-judge"))
            return "unjudged", suspects
        waiting = self.as_of(night, against, [suspect for _, suspect in self.pending.values()])
        return ("suspected" if any(suspect.direction == "worse" for suspect in waiting) else "ok"), waiting

    def follow(self, night: int, latest: Confirmed, findings: list[Finding]) -> Outcome:
        """A night after a confirmed change: at the old level again, one more at the new, or with a loss of its own."""
        change, before, level = latest.change, latest.before, self.levels[-1]
        if not self.evidence.has_figures(night):
            findings.append(Finding(code="nothing-to-judge"))
            return _verdict(change), self.in_force()
        level.append(night)
        if self.returned(latest, level):
            return self.end(change, findings)
        further = [
            suspect
            for suspect in alarm.raised(self.evidence.table, before, night, self.allowed(night, before))
            if suspect.direction == "worse" and not alarm.covered(standing(self.changes), suspect)
        ]
        proven = self.confirmed(before, level)
        if proven:
            verdict, suspects = self.go_on(night, latest, proven)
            return verdict, self.as_of(night, before, suspects)
        self.wait(night, further, level, findings)
        shown = self.as_of(night, before, self.in_force())
        if night - change.confirmed >= MIN_NIGHTS and len(level) >= MIN_NIGHTS:
            self.close()
        return _verdict(change), shown

    def as_of(self, night: int, against: Reference, suspects: Sequence[Suspect]) -> list[Suspect]:
        """What other nights raised or proved, with the evidence of this one."""
        return [self.evidence.on(night, against, self.shown_against(), one) for one in suspects]

    # --- suspicions ----------------------------------------------------------------------------------------------

    def allowed(self, night: int, against: Reference) -> Shares:
        figures = against.judgeable(self.evidence.table.y[night])
        return alarm.shares(self.rules.nights_per_alarm, len(self.rules.metrics), figures)

    def band(self, night: int, against: Reference, allowed: Shares) -> Band:
        tested = curve_track(against, self.evidence.table.y[night : night + 1])
        limit = [alarm.limit(metric, tested, place, allowed.curve) for place, metric in enumerate(self.rules.metrics)]
        return Band(tested.effect, np.array(limit))

    def confirmed(self, against: Reference, nights: Sequence[int]) -> list[Suspect]:
        """Pending suspicions that those of the nights that came after them bear out."""
        proven: list[Suspect] = []
        suspects = [suspect for _, suspect in self.pending.values()]
        for suspected in sorted({since for since, _ in self.pending.values()}):
            later = [each for each in nights if each > suspected]
            again = alarm.confirmed(self.evidence.table, against, later, suspects)
            again += self.evidence.jump(self.baseline(), later)
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
        start = self.levels[-1][0]
        change = self.proven(night, proven, start)
        known = (*self.levels[-1], *self.held, night)
        self.levels[-1] = [each for each in self.levels[-1] if each < change.began]
        self.levels.append([each for each in known if each >= change.began and self.evidence.has_figures(each)])
        self.held.clear()
        return self.add(Confirmed(change, before, start))

    def go_on(self, night: int, latest: Confirmed, proven: Sequence[Suspect]) -> Outcome:
        """More is proven while a change is open: as much of the same one, or another, whose nights are then the new level."""
        change, further = latest.change, self.proven(night, proven, latest.start)
        if change.direction == "worse" and further.began <= change.confirmed:
            whole = msgspec.structs.replace(change, suspects=(*change.suspects, *further.suspects))
            self.changes[-1] = Confirmed(whole, latest.before, latest.start)
            self.pending.clear()
            return "regressed", self.in_force()
        self.levels[-1] = [each for each in self.levels[-1] if each >= further.began]
        return self.add(Confirmed(further, latest.before, latest.start))

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
        return msgspec.structs.replace(made, began=self.evidence.began(made, start, night))

    def add(self, confirmed: Confirmed) -> Outcome:
        self.changes.append(confirmed)
        self.is_open = True
        self.pending.clear()
        return _verdict(confirmed.change), self.in_force()

    def in_force(self) -> list[Suspect]:
        """Every figure that changed since the level that the open change is measured against."""
        return [suspect for change in standing(self.changes) for suspect in change.suspects]

    def returned(self, latest: Confirmed, level: Sequence[int]) -> bool:
        """Whether the last nights lie, in every changed figure, at the level before: under `NEAR` of the way to the new one."""
        recent, earlier, before = level[-RETURN:], level[:-RETURN], latest.before
        if len(recent) < RETURN or recent[0] <= latest.change.confirmed:
            return False
        moved, size = self.evidence.moved, self.evidence.size
        return all(moved(before, recent, one) < NEAR * size(before, earlier, one) for one in self.in_force())

    def end(self, change: Change, findings: list[Finding]) -> Outcome:
        """The old level again. After an improvement that is a loss, proven by the nights that show it."""
        back = self.levels.pop()[-RETURN:]
        self.levels[-1] += back
        before = self.changes[-1].before
        self.changes = [_ended(one, back[0]) if one.before is before else one for one in self.changes]
        findings.append(Finding(code="recovered", data={"night": self.nights[change.began].at[:10]}))
        self.close()
        return ("ok", ()) if change.direction == "worse" else ("regressed", [alarm.undone(one) for one in change.suspects])

    def close(self) -> None:
        self.is_open = False
        self.pending.clear()


def _ended(one: Confirmed, night: int) -> Confirmed:
    return Confirmed(msgspec.structs.replace(one.change, ended=night), one.before, one.start)


def _verdict(change: Change) -> NightVerdict:
    return "regressed" if change.direction == "worse" else "improved"
