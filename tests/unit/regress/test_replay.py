"""What is decided, night after night, on histories with a known story."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from nights import night, nights, worsenings

from sweep.curve.nightly.comparable import comparable
from sweep.curve.nightly.judge import judge
from sweep.curve.nightly.metric import DEFAULT, parse
from sweep.curve.nightly.rules import Rules

RULES = Rules(tuple(parse(name) for name in DEFAULT))
OUTPUT, TTFT, TPOT = range(3)
FIVE, SIX = np.log(1.05), np.log(1.06)


def decided(made, rules=RULES):
    return judge(comparable("test", made), rules)


def verdicts(history):
    return [each.verdict for each in history.judged]


def noise(count, seed=0, share=0.3):
    """Quieter than the yardsticks' noise, so that each story has one reading."""
    return worsenings(count, seed) * share


def test_seven_nights_are_learning():
    assert verdicts(decided(nights(noise(9)))) == ["learning"] * 8 + ["ok"]


def test_a_loss_is_suspected_then_confirmed_and_dated():
    y = noise(30)
    y[20:, OUTPUT] += SIX
    history = decided(nights(y))
    assert verdicts(history)[19:22] == ["ok", "suspected", "regressed"]
    (change,) = history.changes
    assert (change.began, change.suspected, change.confirmed, change.direction) == (20, 20, 21, "worse")
    (suspect,) = change.suspects
    assert suspect.metric == "output_tok_per_s"
    assert suspect.change == pytest.approx(1 / 1.06 - 1, abs=0.01)


def test_one_bad_night_is_only_suspected_and_leaves_no_trace():
    y = noise(34)
    y[20, TTFT] += 0.2
    history = decided(nights(y))
    assert verdicts(history)[20] == "suspected"
    assert not history.changes
    assert history.verdict == "ok"
    codes = [finding.code for judged in history.judged for finding in judged.findings]
    assert codes == ["not-confirmed"]


def test_a_point_alone_is_found():
    y = noise(26)
    y[20:, TTFT, 5] += np.log(1.15)
    history = decided(nights(y))
    (change,) = history.changes
    assert [(one.track, one.cell) for one in change.suspects] == [("point", "c16")]


@pytest.mark.parametrize(("metric", "columns", "cell"), [(TPOT, slice(None), None), (TTFT, 5, "c16")])
def test_a_night_is_shown_with_its_own_evidence(metric, columns, cell):
    """Not with that of the night that raised the suspicion or proved the change."""
    losses = [0.2, 0.25, 0.3, 0.22, 0.28]
    y = noise(25, share=0.1)
    y[20:, metric, columns] = np.log1p(losses)[:, None] if cell is None else np.log1p(losses)
    shown = [one for judged in decided(nights(y)).judged[20:] for one in judged.suspects if one.cell == cell]
    assert [one.change for one in shown] == pytest.approx(losses, abs=0.01)
    assert len({one.p for one in shown}) == 5


def test_a_suspicion_that_a_night_does_not_share_is_shown_so():
    y = noise(22, share=0.1)
    y[20, TTFT] += 0.2
    raised, waiting = (judged.suspects[0] for judged in decided(nights(y)).judged[20:])
    assert (raised.change > 0.2, raised.p < 1e-3) == (True, True)
    assert (abs(waiting.change) < 0.02, waiting.p > 0.01) == (True, True)


def test_an_effect_below_the_floor_is_no_alarm():
    """Significant as it may be, 1.5 % is nobody's regression."""
    y = noise(40, share=0.05)
    y[20:] += np.log(1.015)
    assert set(verdicts(decided(nights(y)))[8:]) == {"ok"}


def test_a_regression_stays_red_until_its_level_is_learned():
    y = noise(45)
    y[20:, TPOT] += SIX
    found = verdicts(decided(nights(y)))
    assert found[21:29] == ["regressed"] * 8
    assert set(found[30:]) == {"ok"}


def test_a_mended_build_is_back_within_two_nights():
    y = noise(40)
    y[20:25] += SIX
    history = decided(nights(y))
    assert verdicts(history)[24:27] == ["regressed", "regressed", "ok"]
    assert history.changes[0].ended == 25
    assert history.judged[26].findings[0].code == "recovered"
    assert history.judged[27].baseline == 20


def test_an_improvement_makes_a_new_level():
    y = noise(45)
    y[20:] -= SIX
    history = decided(nights(y))
    assert verdicts(history)[21] == "improved"
    assert history.verdict == "ok"
    assert history.judged[-1].baseline < 20 or history.changes[0].began == 20


def test_losing_an_improvement_is_a_regression():
    y = noise(40)
    y[20:25] -= SIX
    history = decided(nights(y))
    assert verdicts(history)[25:27] == ["improved", "regressed"]
    assert history.judged[26].suspects[0].direction == "worse"


def test_a_trade_is_a_regression_even_when_the_loss_shows_later():
    y = noise(40)
    y[20:, OUTPUT] -= SIX
    y[22:, TTFT] += SIX
    history = decided(nights(y))
    assert verdicts(history)[21] == "improved"
    assert [(change.direction, change.began) for change in history.changes] == [("better", 20), ("worse", 22)]
    assert history.verdict in ("ok", "regressed")


def test_a_second_loss_while_the_first_is_open_has_its_own_date():
    y = noise(32)
    y[20:, OUTPUT] += SIX
    y[25:, TTFT, 5] += np.log(1.25)
    history = decided(nights(y))
    first, second = history.changes
    assert (first.began, second.began) == (20, 25)
    assert [one.metric for one in second.suspects] == ["ttft_p50"]
    assert {one.metric for one in history.judged[-1].suspects} == {"output_tok_per_s", "ttft_p50"}


def test_mended_is_only_what_is_mended_in_full():
    """Two losses; one is taken back: still red."""
    y = noise(33)
    y[20:, OUTPUT] += SIX
    y[23:, TTFT, 5] += np.log(1.25)
    y[26:, TTFT, 5] -= np.log(1.25)
    assert set(verdicts(decided(nights(y)))[21:]) == {"regressed"}
    y[28:, OUTPUT] -= SIX
    history = decided(nights(y))
    assert history.verdict == "ok"
    assert [change.ended for change in history.changes] == [28, 28]


def test_while_a_change_is_open_tonight_is_shown_against_the_level_before():
    y = noise(24)
    y[20:, TPOT] += SIX
    line = decided(nights(y)).timelines[TPOT]
    assert line.change[-1] == pytest.approx(0.06, abs=0.01)
    assert line.change[10] == pytest.approx(0, abs=0.01)


def test_the_best_ever_is_kept_in_sight():
    y = noise(60)
    y[20:] += SIX
    line = decided(nights(y)).timelines[TPOT]
    assert line.best == pytest.approx(1 / 1.06 - 1, abs=0.01)
    assert line.best_night < 20
    assert line.latest == pytest.approx(0, abs=0.01)


def test_a_drift_too_slow_for_any_night_is_advised():
    y = noise(110, share=1.0)
    y[30:, TPOT] += np.linspace(0, 0.035, 80)[:, None]
    history = decided(nights(y))
    line = history.timelines[TPOT]
    assert line.drift is not None or history.changes
    assert decided(nights(noise(110, share=1.0))).timelines[TPOT].drift is None


def test_missing_nights_and_another_version_are_told():
    made = nights(noise(30))
    made = made[:20] + made[23:]
    made[20:] = [msgspec.structs.replace(each, facts={"software.version": "0.32"}) for each in made[20:]]
    findings = decided(made).judged[20].findings
    assert [(one.code, one.data.get("count")) for one in findings] == [("nights-missing", 3), ("system-changed", None)]
    assert findings[1].data == {"what": "software version", "before": "0.31", "after": "0.32"}


def test_a_new_grid_is_told_and_judged_on_what_is_common():
    y = noise(30)
    made = nights(y[:20]) + [night(place, y[place, :, :8], levels=(1, 2, 4, 8, 12, 16, 24, 200)) for place in range(20, 30)]
    history = decided(made)
    assert history.judged[20].findings[0].code == "grid-changed"
    assert (history.judged[20].findings[0].data["new"], history.judged[20].findings[0].data["gone"]) == (1, 5)
    assert set(verdicts(history)[20:]) == {"ok"}


def test_a_disqualified_point_is_told_and_takes_no_part():
    y = noise(25)
    y[24, :, 3] += 3.0
    made = [*nights(y[:24]), night(24, y[24], disqualified=(8,))]
    history = decided(made)
    assert history.verdict == "ok"
    assert history.judged[-1].findings[0].data == {"cells": "c8"}


def test_a_night_with_every_point_disqualified_cannot_be_judged():
    y = noise(24)
    made = [*nights(y), night(24, y[0], disqualified=tuple(cell.load.level for cell in night(0).cells))]
    assert decided(made).verdict == "unjudged"


def test_failures_are_an_alarm_of_their_own():
    y = noise(26)
    made = nights(y[:24]) + [night(place, y[place], failed=20) for place in (24, 25)]
    history = decided(made)
    assert verdicts(history)[24:] == ["suspected", "regressed"]
    assert history.judged[-1].suspects[0].track == "errors"
    assert "error-jump" in {finding.code for finding in history.judged[-1].findings}


def test_failures_are_those_of_the_night():
    y = noise(28)
    failed = [20, 30, 16, 24]
    made = nights(y[:24]) + [night(24 + place, y[24 + place], failed=count) for place, count in enumerate(failed)]
    shown = [one.change for judged in decided(made).judged[24:] for one in judged.suspects]
    assert shown == pytest.approx([count / 200 for count in failed])


def test_a_broken_build_is_red_while_it_lasts_and_no_longer():
    y = noise(32)
    every = tuple(cell.load.level for cell in night(0).cells)
    made = nights(y)
    made[22:26] = [night(place, disqualified=every, failed=150) for place in range(22, 26)]
    history = decided(made)
    assert verdicts(history)[21:28] == ["ok", "unjudged", "regressed", "regressed", "regressed", "regressed", "ok"]
    assert history.changes[0].ended == 26
    assert history.verdict == "ok"


def test_a_fixed_baseline_is_what_every_night_is_compared_with():
    y = noise(40)
    y += SIX  # slow from the first night, so the nights among themselves show nothing
    golden = night(-1, np.zeros((3, 12)))
    assert decided(nights(y)).verdict == "ok"
    against_golden = decided(nights(y), Rules(RULES.metrics, fixed=golden))
    assert "regressed" in verdicts(against_golden)


def test_an_empty_history_is_unjudged():
    assert decided([night(0, disqualified=(1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128))]).verdict == "unjudged"


# --- the yardsticks of MEASUREMENT, a few seeds of what bench/regression.py prints ---------------------------------


def test_unchanged_nights_raise_few_alarms_and_confirm_none():
    """One year; over hundreds the rates are about 2.2 and 0.05 a year."""
    raised = confirmed = 0
    for seed in range(1):
        history = decided(nights(worsenings(365, 500 + seed)))
        suspected = np.array([verdict == "suspected" for verdict in verdicts(history)])
        raised += int((suspected[1:] & ~suspected[:-1]).sum())
        confirmed += len([change for change in history.changes if change.direction == "worse"])
    assert raised <= 7
    assert confirmed <= 1


@pytest.mark.parametrize(
    ("loss", "at_least"),
    [
        (lambda y: y[:, OUTPUT].__iadd__(FIVE), 0.55),
        (lambda y: y.__iadd__(FIVE), 0.8),
        (lambda y: y[:, TTFT, 3].__iadd__(np.log(1.15)), 0.75),
    ],
    ids=["one metric", "all metrics", "one point"],
)
def test_losses_are_found(loss, at_least):
    """Eight histories; over hundreds the shares of the first night are 0.80, 0.97 and 0.93."""
    found = dated = 0
    for seed in range(8):
        y = worsenings(52, 900 + seed)
        loss(y[48:])
        history = decided(nights(y))
        found += history.judged[48].verdict in ("suspected", "regressed")
        dated += any(abs(change.began - 48) <= 1 for change in history.changes)
    assert found / 8 >= at_least
    assert dated / 8 >= 0.7
