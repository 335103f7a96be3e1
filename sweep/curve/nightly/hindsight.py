"""Confirmed changes, and what each comes to when the nights after it are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from sweep.curve.nightly import alarm
from sweep.curve.nightly.evidence import Evidence
from sweep.curve.nightly.tracks import MIN_NIGHTS, Reference
from sweep.model import Change


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A change with the level that it is measured against, and the first night of that level."""

    change: Change
    before: Reference
    start: int


def standing(changes: Sequence[Confirmed]) -> list[Change]:
    """The changes that are measured against the same level as the latest of them."""
    return [one.change for one in changes if one.before is changes[-1].before]


def in_hindsight(evidence: Evidence, changes: Sequence[Confirmed], place: int) -> Change:
    """A change with what the nights after it say: its beginning, and all that moved with it."""
    confirmed, following = changes[place], changes[place + 1 : place + 2]
    change, nights = confirmed.change, len(evidence.failures)
    until = min([nights, change.confirmed + MIN_NIGHTS, change.ended or nights, *(one.change.began for one in following)]) - 1
    until = max(until, change.confirmed)
    began = evidence.began(change, confirmed.start, until)
    since = [each for each in range(began, until + 1) if evidence.has_figures(each)]
    early = [each for each in since if each <= change.confirmed]
    suspects = alarm.in_full(evidence.table, confirmed.before, early, since, change) if early else change.suspects
    own = {alarm.key(one) for one in change.suspects}
    earlier = [one.change for one in changes[:place] if one.before is confirmed.before]
    news = tuple(one for one in suspects if alarm.key(one) in own or not alarm.covered(earlier, one))
    return msgspec.structs.replace(change, began=began, suspects=news)
