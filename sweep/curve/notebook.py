"""A curve file in a notebook: `sweep.load(path)`, and questions put to what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.curve import artifact, interpolate
from sweep.curve.frontier import axis_named, default_axis, frontier
from sweep.curve.pick import Pick, pick
from sweep.errors import SloError
from sweep.model import Curve, Estimate, Frontier, Point, Slo
from sweep.plan import slo

if TYPE_CHECKING:
    import polars as pl

SHOWN = (("ttft_s", "p50"), ("ttft_s", "p99"), ("tpot_s", "p50"), ("tpot_s", "p99"), ("e2e_s", "p99"))


@dataclass(frozen=True, slots=True)
class CurveFile:
    """A verified curve; `curve` is the noun itself, with everything the file holds."""

    curve: Curve

    @property
    def points(self) -> tuple[Point, ...]:
        return self.curve.points

    def frontier(self, axis: str | None = None) -> Frontier:
        """The frontier of an axis pair (`ttft`, `total/interactivity`, …); of the default one without. KeyError lists them."""
        named = default_axis(self.points) if axis is None else axis_named(axis)
        return frontier(self.points, named, rate_unit=self.curve.endpoint.rate_unit)

    def at(self, x: float, axis: str | None = None, rule: interpolate.Rule = "pchip") -> interpolate.Answer:
        """Throughput where users get x: measured, interpolated or unreachable, with what the measurements alone prove."""
        return interpolate.at(self.frontier(axis).vertices, x, rule)

    def pick(self, bounds: str | Slo) -> Pick:
        """The loads that meet an SLO, given as text (`ttft_p99<=450ms,tpot_p99<=40ms`, a preset) or as the noun. SloError."""
        if isinstance(bounds, Slo):
            return pick(self.curve, bounds)
        parsed = slo.parse(bounds)
        if len(parsed) != 1:
            raise SloError(f"{bounds!r} states {len(parsed)} SLOs", "ask for one at a time")
        return pick(self.curve, parsed[0])

    def to_polars(self, *, intervals: bool = False) -> pl.DataFrame:
        """One row a point: its load, counts, rates, and `METRIC_STATISTIC` columns; with `_low` and `_high` beside when asked."""
        import polars as pl

        return pl.DataFrame([row(point, intervals) for point in self.points], infer_schema_length=None)

    def _repr_html_(self) -> str:
        heads = [
            "load",
            f"output {self.curve.endpoint.rate_unit}",
            *(f"{metric.removesuffix('_s').upper()} {name} ms" for metric, name in SHOWN),
            "",
        ]
        rows = [[point.load.label, *(_cell(value) for value in _shown(point)), _mark(point)] for point in self.points]
        table = _row("th", heads) + "".join(_row("td", cells) for cells in rows)
        return f"<p><b>{escape(self.curve.name)}</b></p><table>{table}</table>"


def load(path: str | Path) -> CurveFile:
    """Reads and verifies a curve file. Raises ArtifactError for one that does not hold."""
    return CurveFile(artifact.load(path))


def row(point: Point, intervals: bool) -> dict[str, Any]:
    """A point as one flat row."""
    flat: dict[str, Any] = {
        "point": point.id,
        "load_kind": point.load.kind,
        "level": point.load.level,
        "repeat": point.repeat,
        "start": point.start,
        "cohort": point.cohort,
        "ok": point.outcomes.get("ok", 0),
        "disqualified": point.disqualified,
        "findings": [finding.code for finding in point.findings],
    }
    flat |= _spread(point.rates, intervals)
    for metric, statistics in point.metrics.items():
        flat |= _spread({f"{metric}_{name}": estimate for name, estimate in statistics.items()}, intervals)
    return flat


def _spread(estimates: Mapping[str, Estimate], intervals: bool) -> dict[str, float | None]:
    flat: dict[str, float | None] = {}
    for name, estimate in estimates.items():
        flat[name] = estimate.value
        if intervals:
            flat |= {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return flat


def _shown(point: Point) -> list[float | None]:
    output = point.rate("output_tok_per_s").value
    seconds = [point.statistic(metric, name).value for metric, name in SHOWN]
    return [output, *(None if value is None else value * 1e3 for value in seconds)]


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _mark(point: Point) -> str:
    return "disqualified" if point.disqualified else ""


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
