"""How far a measured value may be from the truth, as draws of its logarithm: a parametric bootstrap.

One or two runs of a load: each value's own 95 % interval, its halves taken as 1.96 standard deviations below and above.
Three and more: the spread between the runs themselves. The draws then are normal with the variance of their mean;
`welch` turns what is computed from them into Student's t with the Welch–Satterthwaite degrees of freedom, since a
percentile bootstrap over three runs covers 80 % where it says 95 %.

Every stream of random numbers is keyed by what it belongs to, so results depend on neither order nor company. Two curves
measured in alternation share their keys: what moved both (the time of day) moves both draws, and drops out of their ratio.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.model import Curve, Estimate, Point

Floats = NDArray[np.float64]

Z95 = 1.959963984540054
MIN_REPEATS = 3
STRETCH_SEED = 1  # its draws are independent of every source's


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Noise of one value of one load of one curve: its draws and, if they were estimated from few runs, their degrees of freedom.

    `name` is its own; what is in one `group` is not independent.
    """

    name: str
    group: str
    ln: Floats
    df: float


@dataclass(frozen=True, slots=True)
class Random:
    """`own` names the curve whose noise it is, `shared` what it has in common with the curves measured in alternation with it."""

    seed: int
    own: str
    shared: str
    draws: int

    def normal(self, *key: object) -> Floats:
        text = "\x1f".join(map(str, key))
        return np.random.default_rng([self.seed, zlib.crc32(text.encode())]).standard_normal(self.draws)


def random_of(curve: Curve, seed: int, draws: int) -> Random:
    """Named by the run, not by the place in the comparison: exchanging two files exchanges their draws."""
    own = f"{curve.run_id} {curve.name}"
    return Random(seed, own, pairing(curve) or own, draws)


def pairing(curve: Curve) -> str | None:
    """The name that the curves of one alternating run share, as their scenario says; None for a run of its own."""
    fact = curve.scenario.get("interleaved")
    group = fact.value.get("group") if fact is not None and isinstance(fact.value, dict) else None
    return group if isinstance(group, str) and group else None


def source(random: Random, what: str, points: Sequence[Point], estimates: Sequence[Estimate]) -> Source | None:
    """Noise of the mean of one load's runs; None where neither intervals nor repeats tell how large it is.

    `what` keeps the noise of a load's different metrics apart where it is drawn from intervals.
    """
    load = f"{points[0].load.label} {points[0].start}"
    values = [estimate.value for estimate in estimates if estimate.value is not None and estimate.value > 0]
    if len(values) < len(points):
        return None
    if len(points) >= MIN_REPEATS:
        name, group = f"{random.own} {load} {what}", f"{random.shared} {load}"
        return Source(name, group, _between_runs(random, load, points, np.log(values)), len(points) - 1.0)
    halves = _halves(estimates, float(np.mean(values)))
    if halves is None:
        return None
    below, above = halves
    z = random.normal(random.own, load, what)
    name = f"{random.own} {load} {what}"
    return Source(name, name, np.where(z < 0, below, above) * z, np.inf)


def _between_runs(random: Random, load: str, points: Sequence[Point], ln_values: Floats) -> Floats:
    """Σ wⱼ(vⱼ − v̄)/√(r(r−1)) with wⱼ normal has the variance of the mean; run j has the same wⱼ in all metrics and paired curves."""
    r = len(points)
    weights = [random.normal(random.shared, load, "run", point.repeat) for point in points]
    spread: Floats = (ln_values - ln_values.mean()) @ np.stack(weights) / np.sqrt(r * (r - 1))
    return spread


def _halves(estimates: Sequence[Estimate], value: float) -> tuple[float, float] | None:
    """Standard deviations of ln below and above, of the hull of the intervals; a missing side is taken like the other."""
    lows = [estimate.low for estimate in estimates if estimate.low is not None and estimate.low > 0]
    highs = [estimate.high for estimate in estimates if estimate.high is not None]
    below = np.log(value / min(lows)) / Z95 if len(lows) == len(estimates) else None
    above = np.log(max(highs) / value) / Z95 if len(highs) == len(estimates) else None
    if below is None and above is None:
        return None
    return max(0.0, float(below if below is not None else above)), max(0.0, float(above if above is not None else below))  # type: ignore[arg-type]


def distinct(sources: Iterable[Source]) -> list[Source]:
    """Each once: what several answers rest on is one source."""
    return list({each.name: each for each in sources}.values())


def welch(value: float, draws: Floats, sources: Sequence[Source]) -> Floats:
    """Normal draws of a statistic around its value, as Student's t where part of their variance was estimated from few runs.

    Each group of sources contributes Σ cᵢ·cov(statistic, sourceᵢ), with c the least-squares sensitivities; the degrees of
    freedom are Satterthwaite's, (Σ contributions)² / Σ contribution²/df.
    """
    known = np.isfinite(draws)
    if not np.isfinite(value) or all(np.isinf(each.df) for each in sources) or known.sum() < 2 * len(sources) + 2:
        return draws
    centred = draws[known] - draws[known].mean()
    noise = np.stack([each.ln[known] - each.ln[known].mean() for each in sources], axis=1)
    sensitivities = np.linalg.lstsq(noise, centred, rcond=None)[0]
    shares = sensitivities * (noise.T @ centred) / len(centred)
    of_group: dict[str, float] = {}
    df_of = {each.group: each.df for each in sources}
    for each, share in zip(sources, shares, strict=True):
        of_group[each.group] = of_group.get(each.group, 0.0) + max(0.0, float(share))
    total = sum(of_group.values())
    lost = sum(share**2 / df_of[group] for group, share in of_group.items())
    if total <= 0 or lost <= 0:
        return draws
    df = max(1.0, total**2 / lost)
    stretch = np.sqrt(df / np.random.default_rng(STRETCH_SEED).chisquare(df, len(draws)))
    return np.where(known, value + (draws - value) * stretch, draws)
