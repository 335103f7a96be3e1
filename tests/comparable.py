"""Pairs of curves whose comparison has a known answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from curve_builder import curve, point

from sweep.model import Curve, Fact, Point

LEVELS = (1, 2, 4, 8, 16, 32)


def frontier_of(level: float) -> tuple[float, float]:
    """Output tok/s and seconds per token of a plausible endpoint."""
    return 1000 * level**0.7, 0.01 * level**0.4


def side(
    name: str,
    *,
    output: float = 1.0,
    latency: float = 1.0,
    spread: float | None = 0.01,
    accelerators: int | None = None,
    price: float | None = None,
    power_w: float | None = None,
    levels: tuple[float, ...] = LEVELS,
    **changes: Any,
) -> Curve:
    """`output` and `latency` scale the endpoint above; `spread` is the half-width of every interval."""
    points = [
        point(level, cell=cell, output=output * frontier_of(level)[0], latency=latency * frontier_of(level)[1], spread=spread)
        for cell, level in enumerate(levels)
    ]
    return dressed(name, points, accelerators=accelerators, price=price, power_w=power_w, **changes)


def repeated(
    name: str,
    seed: int,
    *,
    runs: int = 3,
    output: float = 1.0,
    sd: float = 0.02,
    night: np.ndarray | None = None,
    levels: tuple[float, ...] = LEVELS,
    **changes: Any,
) -> Curve:
    """Runs of every load that scatter by `sd` in ln output; `night`, one number a run, moves all of a run's outputs."""
    draw = np.random.default_rng(seed)
    shared = np.zeros(runs) if night is None else night
    points: list[Point] = []
    for level in levels:
        for run in range(runs):
            factor = output * np.exp(sd * draw.standard_normal() + shared[run])
            points.append(
                point(
                    level,
                    repeat=run,
                    cell=len(points),
                    output=float(factor * frontier_of(level)[0]),
                    latency=frontier_of(level)[1],
                    spread=0.01,
                )
            )
    return dressed(name, points, **changes)


def dressed(
    name: str,
    points: list[Point],
    *,
    accelerators: int | None = None,
    price: float | None = None,
    power_w: float | None = None,
    pair: str | None = None,
    **changes: Any,
) -> Curve:
    """A curve of these points with a run of its own, and the facts a comparison asks for."""
    made = curve(*points, name=name, run_id=f"run-{name}", **changes)
    hardware = {**made.hardware}
    if accelerators is not None:
        hardware["accelerator_count"] = Fact(value=accelerators, known="declared")
    if power_w is not None:
        hardware["power_w"] = Fact(value=power_w, known="declared")
    prices = {**made.price}
    if price is not None:
        prices["per_accelerator_hour"] = Fact(value=price, known="declared")
    scenario = {**made.scenario}
    if pair is not None:
        scenario["interleaved"] = Fact(value={"group": pair, "order": "ABBA"}, known="measured")
    return msgspec.structs.replace(made, hardware=hardware, price=prices, scenario=scenario)


def metered(curve: Curve, watts: Callable[[float], float | None]) -> Curve:
    """The curve with its power measured: `watts` of the system at a level."""
    points = []
    for one in curve.points:
        w = watts(one.load.level)
        points.append(
            msgspec.structs.replace(one, energy_j=None if w is None or one.window is None else w * one.window.seconds)
        )
    return msgspec.structs.replace(curve, points=tuple(points))
