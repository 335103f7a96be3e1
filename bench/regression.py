"""How often the nightly judgement is wrong, how soon it is right, and how the usual gates do on the same histories.

    python -m bench.regression [--years 40] [--histories 200] [--one-draw] [--otava PYTHON]

Simulated nights: 12 points × 3 metrics, 1 % of noise shared by a night's points (with `--one-draw` by its metrics as well), 2 %
of each point's own. `--otava` names the interpreter of an environment that has apache-otava.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from nights import nights as made_up  # type: ignore[import-not-found]
from nights import worsenings as drawn

from sweep.curve.nightly.comparable import comparable
from sweep.curve.nightly.judge import judge
from sweep.curve.nightly.metric import DEFAULT, parse
from sweep.curve.nightly.rules import Rules
from sweep.model import History

Floats = NDArray[np.float64]

RULES = Rules(tuple(parse(name) for name in DEFAULT))
YEAR = 365
STEP = 80  # the night on which a loss begins
AFTER = 10
OTAVA = Path(__file__).with_name("otava_changes.py")


ONE_DRAW = "--one-draw" in sys.argv


def worsenings(nights: int, seed: int) -> Floats:
    made: Floats = drawn(nights, seed, one_draw=ONE_DRAW)
    return made


@dataclass(frozen=True, slots=True)
class Loss:
    title: str
    apply: Callable[[Floats], None]  # to the nights after the step, on the log scale, + is worse


def _one_metric(y: Floats) -> None:
    y[:, 0] += np.log(1.05)


def _all_metrics(y: Floats) -> None:
    y += np.log(1.05)


def _one_point(y: Floats) -> None:
    y[:, 1, 3] += np.log(1.15)


LOSSES = (
    Loss("+5 %, all points, one metric", _one_metric),
    Loss("+5 %, all points, all metrics", _all_metrics),
    Loss("+15 %, one point, one metric", _one_point),
)


def lossy(loss: Loss, seed: int) -> Floats:
    y = worsenings(STEP + AFTER, seed)
    loss.apply(y[STEP:])
    return y


def decided(y: Floats) -> History:
    return judge(comparable("simulated", made_up(y)), RULES)


def suspicions(history: History) -> Iterator[int]:
    """Nights on which a suspicion of a loss began."""
    known: set[tuple[str, str | None]] = set()
    for night, each in enumerate(history.judged):
        worse = {(one.metric, one.cell) for one in each.suspects if one.direction == "worse"}
        if each.verdict == "suspected" and worse - known:
            yield night
        known = worse


def false_alarms(years: int) -> tuple[float, float]:
    """Unconfirmed and confirmed alarms a year when nothing changes."""
    raised = confirmed = 0
    for seed in range(years):
        history = decided(worsenings(YEAR, 10_000 + seed))
        worse = [change for change in history.changes if change.direction == "worse"]
        confirmed += len(worse)
        raised += sum(1 for _ in suspicions(history)) - len(worse)
    return raised / years, confirmed / years


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of the histories; nights are counted from the first slow one."""

    first_night: float
    three_nights: float
    confirmed_three: float
    confirmed_seven: float
    dated: float


def detection(loss: Loss, histories: int) -> Found:
    first = three = confirmed_three = confirmed_seven = dated = 0
    for seed in range(histories):
        history = decided(lossy(loss, 20_000 + seed))
        alarms = [night for night in suspicions(history) if night >= STEP]
        change = next((one for one in history.changes if one.confirmed >= STEP and one.direction == "worse"), None)
        first += STEP in alarms
        three += any(night < STEP + 3 for night in alarms) or (change is not None and change.confirmed < STEP + 3)
        confirmed_three += change is not None and change.confirmed < STEP + 3
        confirmed_seven += change is not None and change.confirmed < STEP + 7
        dated += change is not None and abs(change.began - STEP) <= 1
    return Found(*(count / histories for count in (first, three, confirmed_three, confirmed_seven, dated)))


# --- the usual gates ---------------------------------------------------------------------------------------------


def naive_alarms(y: Floats) -> NDArray[np.intp]:
    """Nights on which any point of any metric is 5 % worse than the night before."""
    return np.flatnonzero((np.diff(y, axis=0) > np.log(1.05)).any(axis=(1, 2))) + 1


def naive_false_alarms(years: int) -> float:
    return float(np.mean([len(naive_alarms(worsenings(YEAR, 10_000 + seed))) for seed in range(years)]))


def naive_detection(loss: Loss, histories: int) -> float:
    return float(np.mean([STEP in naive_alarms(lossy(loss, 20_000 + seed)) for seed in range(histories)]))


def otava(python: str, histories: list[Floats]) -> list[list[int]]:
    """The nights at which apache-otava, with its defaults, reports a change for the worse in any of the series."""
    asked = json.dumps([np.exp(y.reshape(len(y), -1)).T.tolist() for y in histories])
    run = subprocess.run([python, str(OTAVA)], input=asked, capture_output=True, text=True, check=True)
    answer: list[list[int]] = json.loads(run.stdout)
    return answer


def otava_detection(python: str, loss: Loss, histories: int, nights: int) -> float:
    """Whether a change within one night of the step is reported after so many slow nights."""
    found = otava(python, [lossy(loss, 20_000 + seed)[: STEP + nights] for seed in range(histories)])
    return float(np.mean([any(abs(night - STEP) <= 1 for night in each) for each in found]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=40)
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--one-draw", action="store_true")
    parser.add_argument("--otava", metavar="PYTHON")
    options = parser.parse_args()

    print(f"nothing changes, {options.years} years            alarms a year")
    unconfirmed, confirmed = false_alarms(options.years)
    print(f"  sweep regress, suspected only      {unconfirmed:6.2f}   (at most 4)")
    print(f"  sweep regress, confirmed           {confirmed:6.3f}   (at most 0.1)")
    print(f"  any point 5 % worse than last night{naive_false_alarms(options.years):6.0f}")
    if options.otava:
        few = min(4, options.years)
        nights = otava(options.otava, [worsenings(YEAR, 10_000 + seed) for seed in range(few)])
        print(f"  apache-otava, its defaults         {np.mean([len(each) for each in nights]):6.1f}   ({few} years)")

    print(f"\na loss from night {STEP} on, {options.histories} histories")
    print(f"  {'':32}{'1st night':>10}{'by 3rd':>8}{'confirmed by 3rd':>18}{'by 7th':>8}{'dated ±1':>10}{'naive 1st':>11}")
    for loss in LOSSES:
        found = detection(loss, options.histories)
        shown = (found.first_night, found.three_nights, found.confirmed_three, found.confirmed_seven, found.dated)
        naive = naive_detection(loss, options.histories)
        print(f"  {loss.title:32}" + "{:10.2f}{:8.2f}{:18.2f}{:8.2f}{:10.2f}{:11.2f}".format(*shown, naive))
    if options.otava:
        few = min(20, options.histories)
        print(f"\n  apache-otava, {few} histories          1st night   by 3rd   by 7th")
        for loss in LOSSES:
            after = [otava_detection(options.otava, loss, few, nights) for nights in (1, 3, 7)]
            print(f"  {loss.title:32}" + "{:14.2f}{:9.2f}{:9.2f}".format(*after))


if __name__ == "__main__":
    main()
