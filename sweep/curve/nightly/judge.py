"""A history of comparable nights, judged from the first to the last."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.curve.nightly.alarm import failures
from sweep.curve.nightly.comparable import Comparable
from sweep.curve.nightly.evidence import Evidence
from sweep.curve.nightly.hindsight import in_hindsight
from sweep.curve.nightly.replay import Replay
from sweep.curve.nightly.rules import Rules
from sweep.curve.nightly.series import Floats, Series, series
from sweep.curve.nightly.timeline import timelines
from sweep.model import History, Night


def judge(group: Comparable, rules: Rules) -> History:
    nights = group.nights
    table, fixed = _tables(nights, rules)
    evidence = Evidence(table, [failures(night) for night in nights])
    replay = Replay(nights, rules, evidence, fixed)
    for night in range(len(nights)):
        replay.step(night)
    return History(
        title=group.title,
        nights=nights,
        judged=tuple(replay.judged),
        changes=tuple(in_hindsight(evidence, replay.changes, place) for place in range(len(replay.changes))),
        timelines=timelines(table, replay.bands, replay.levels[-1], replay.shown_against(), rules.nights_per_alarm),
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
