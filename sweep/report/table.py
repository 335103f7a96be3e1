"""The points of a curve as rows of text, the same for terminal and page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sweep.model import Curve, Estimate, Point, SloResult
from sweep.report import quantity
from sweep.report.pace import streamed
from sweep.report.quantity import MISSING

FEW = "~"
GONE = "✗"
AGAIN = "·2"
MARKS = {"met": "✓", "missed": "✗", "undecided": "?"}


@dataclass(frozen=True, slots=True)
class Column:
    """`between`: it tells of the time between tokens, which answers in one piece do not have.

    `refusals`: shown only where some request was refused (True), or where none was (False).
    """

    head: str
    unit: str
    between: bool = False
    refusals: bool | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """`text` as shown; `interval` the 95 % interval in words, "" where there is none."""

    text: str
    few: bool = False
    interval: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    point: Point
    cells: tuple[Cell, ...]


RATE = "rate"  # stands for the curve's own unit
COLUMNS = (
    Column("load", ""),
    Column("output", RATE),
    Column("user", RATE, between=True),
    Column("TTFT p50", "ms"),
    Column("TTFT p99", "ms"),
    Column("TPOT p50", "ms", between=True),
    Column("TPOT p99", "ms", between=True),
    Column("E2E p99", "s"),
    Column("failed", "", refusals=False),
    Column("failed", "%", refusals=True),
    Column("refused", "%", refusals=True),
)


def columns(curve: Curve) -> list[Column]:
    unit = curve.endpoint.rate_unit
    return [replace(COLUMNS[at], unit=unit) if COLUMNS[at].unit == RATE else COLUMNS[at] for at in _places(curve)]


def rows(curve: Curve) -> list[Row]:
    """One row a point, by load; cells in the order of `columns`."""
    places = _places(curve)
    made = [(point, _cells(point)) for point in quantity.by_load(curve.points)]
    return [Row(point, tuple(cells[at] for at in places)) for point, cells in made]


def _places(curve: Curve) -> list[int]:
    """Of the columns to show."""
    whole = not streamed(curve.points)
    refused = any(quantity.refused(point) for point in curve.points)
    return [at for at, each in enumerate(COLUMNS) if not (whole and each.between) and each.refusals in (None, refused)]


def _cells(point: Point) -> tuple[Cell, ...]:
    bad = quantity.failed(point)
    return (
        Cell(quantity.cell(point)),
        cell(quantity.rate(point), 1),
        cell(quantity.interactivity(point), 1),
        cell(quantity.metric(point, "ttft_s", "p50"), 1e3),
        cell(quantity.metric(point, "ttft_s", "p99"), 1e3),
        cell(quantity.metric(point, "tpot_s", "p50"), 1e3),
        cell(quantity.metric(point, "tpot_s", "p99"), 1e3),
        cell(quantity.metric(point, "e2e_s", "p99"), 1),
        Cell(f"{bad}/{point.cohort}" if bad else "0" if point.cohort else MISSING),
        _percent(bad, point.cohort),
        _percent(quantity.refused(point), point.cohort),
    )


def _percent(count: int, cohort: int) -> Cell:
    return Cell(quantity.percent(count / cohort).removesuffix(" %") if cohort else MISSING)


def cell(estimate: Estimate | None, scale: float) -> Cell:
    """An estimate in the column's unit; `~` before a value that rests on too few requests."""
    if estimate is None or estimate.value is None:
        return Cell(MISSING)
    text = quantity.significant(estimate.value * scale)
    return Cell(f"{FEW}{text}" if estimate.few else text, estimate.few, quantity.interval(estimate, scale))


def slo_cell(result: SloResult | None) -> Cell:
    """`✓ 99.6 %  3.21 req/s`: verdict, attainment, goodput."""
    if result is None:
        return Cell(MISSING)
    share = quantity.percent(result.attainment.value)
    good = quantity.significant(result.goodput_req_per_s.value)
    few = result.attainment.few
    return Cell(f"{MARKS[result.verdict]} {FEW if few else ''}{share} {good}/s", few, "")


def slo_result(point: Point, name: str) -> SloResult | None:
    return next((result for result in point.slos if result.slo == name), None)
