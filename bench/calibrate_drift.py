"""The table in `sweep/curve/nightly/drift.py`: CUSUM thresholds for a chosen rate of false advice, by simulation.

    python -m bench.calibrate_drift

Independent normal nights; the reference is the first `REFERENCE_NIGHTS`, its centre as uncertain as a median of them and its
spread estimated from them. A threshold's rate is the mean number of crossings in the year that follows, the sum starting
anew after each.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from sweep.curve.nightly.drift import CAP, REFERENCE_NIGHTS, SLACK
from sweep.curve.nightly.tracks import MEDIAN_COST

YEAR = 365
NIGHTS_PER_ADVICE = (30, 60, 120, 240, 480, 960, 1920, 3840)


def crossings_per_night(thresholds: NDArray[np.float64], histories: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    centre = rng.normal(0.0, np.sqrt(MEDIAN_COST / REFERENCE_NIGHTS), (histories, 1))
    spread = np.sqrt(rng.chisquare(REFERENCE_NIGHTS - 1, (histories, 1)) / (REFERENCE_NIGHTS - 1))
    total = np.zeros((histories, len(thresholds)))
    crossed = np.zeros(len(thresholds))
    for _ in range(YEAR):
        z = np.minimum((rng.normal(size=(histories, 1)) - centre) / spread, CAP)
        total = np.maximum(0.0, total + z - SLACK)
        over = total > thresholds
        crossed += over.sum(axis=0)
        total[over] = 0.0
    rates: NDArray[np.float64] = crossed / (histories * YEAR)
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    thresholds = np.geomspace(1.0, 200.0, 60)
    rates = crossings_per_night(thresholds, options.histories, options.seed)
    print("nights per advice of one metric -> threshold")
    for nights in NIGHTS_PER_ADVICE:
        threshold = np.exp(np.interp(np.log(nights), -np.log(np.maximum(rates, 1e-9)), np.log(thresholds)))
        print(f"    ({nights}, {threshold:.1f}),")


if __name__ == "__main__":
    main()
