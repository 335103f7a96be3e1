"""What a point says, as estimates, and how a number is written. Missing is "–", never 0."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite, log10

from sweep.model import Bound, Estimate, Load, Point, Slo, failures
from sweep.wording import plural

MISSING = "–"


def metric(point: Point, name: str, statistic: str) -> Estimate | None:
    """The estimate of `name` (`ttft_s`) at `statistic` (`p99`), None when the point has none."""
    estimate = point.metrics.get(name, {}).get(statistic)
    return None if estimate is None or estimate.value is None else estimate


def rate(point: Point, name: str = "output_tok_per_s") -> Estimate | None:
    estimate = point.rates.get(name)
    return None if estimate is None or estimate.value is None else estimate


def interactivity(point: Point, statistic: str = "p50") -> Estimate | None:
    """1/TPOT in tok/s/user, its interval turned with it; None where TPOT is missing or zero."""
    return inverse(metric(point, "tpot_s", statistic))


def inverse(seconds: Estimate | None) -> Estimate | None:
    """A rate from the seconds each takes; None where that is missing or zero."""
    if seconds is None or not seconds.value or seconds.value <= 0:
        return None
    return Estimate(
        value=1 / seconds.value,
        low=1 / seconds.high if seconds.high else None,
        high=1 / seconds.low if seconds.low else None,
        n=seconds.n,
        n_eff=seconds.n_eff,
        few=seconds.few,
    )


def failed(point: Point) -> int:
    """Requests of the cohort that the endpoint failed; what was refused for want of capacity is counted apart."""
    return sum(failures(point.outcomes, any(one.code == "overloaded" for one in point.findings)).values())


def refused(point: Point) -> int:
    """Requests of the cohort that the endpoint would not take: its capacity, not a fault."""
    return point.outcomes.get("rate_limited", 0)


def by_load(points: tuple[Point, ...]) -> list[Point]:
    return sorted(points, key=lambda point: (point.load.kind, point.load.level, point.repeat, point.cell))


def significant(value: float | None, digits: int = 3) -> str:
    """`1692.3` -> `1,692`; `43.21` -> `43.2`; `0.00123` -> `0.00123`."""
    if value is None or not isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    places = max(0, digits - 1 - floor(log10(abs(value))))
    rounded = round(value, places)
    places = max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{rounded:,.{places}f}"


def span(low: float | None, high: float | None, scale: float = 1.0, *, digits: Callable[[float], str] = significant) -> str:
    """`41.2 to 43.0`, `at least 41.2`, `at most 43.0`, each times `scale`; "" where neither end is known."""
    if low is None:
        return "" if high is None else f"at most {digits(high * scale)}"
    return f"at least {digits(low * scale)}" if high is None else f"{digits(low * scale)} to {digits(high * scale)}"


def interval(estimate: Estimate | None, scale: float = 1.0) -> str:
    """The 95 % interval of an estimate, in its unit times `scale`."""
    return "" if estimate is None else span(estimate.low, estimate.high, scale)


def seconds(value: float | None) -> str:
    """A latency with its unit: `230 µs`, `45.2 ms`, `1.40 s`, `95.0 s`."""
    if value is None or not isfinite(value):
        return MISSING
    if value < 1e-3:
        return f"{significant(value * 1e6)} µs"
    if value < 1:
        return f"{significant(value * 1e3)} ms"
    return f"{significant(value)} s"


def duration(value: float | None) -> str:
    """A waiting time for people: `8 s`, `3 min`, `1 h 20 min`."""
    if value is None or not isfinite(value):
        return MISSING
    if value < 90:
        return f"{max(1, round(value))} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def watts(value: float | None) -> str:
    """`700 W`, `5.60 kW`."""
    if value is None or not isfinite(value):
        return MISSING
    return f"{significant(value)} W" if value < 1000 else f"{significant(value / 1000)} kW"


def count(value: float | None) -> str:
    """A count for people: `850`, `12.3 k`, `4.10 M`."""
    if value is None or not isfinite(value):
        return MISSING
    if value < 10_000:
        return f"{value:,.0f}"
    return f"{significant(value / 1e3)} k" if value < 999_500 else f"{significant(value / 1e6)} M"


def things(number: float | None, one: str) -> str:
    """`1 cell`, `2 cells`, `12.3 k cells`."""
    return f"{count(number)} {plural(number, one)}"


def percent(share: float | None) -> str:
    """`1` -> `100 %`; `0.9996` -> `99.9 %`: never rounded up to all, nor down to none."""
    if share is None or not isfinite(share):
        return MISSING
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    return f"{min(99.9, max(0.1, share * 100)):.1f} %"


def level(load: Load) -> str:
    """The load as a table shows it: slots for closed loops, requests per second for open ones."""
    return f"{load.level:g}" if load.kind == "closed" else f"{load.level:g}/s"


def level_in_words(load: Load) -> str:
    return f"concurrency {load.level:g}" if load.kind == "closed" else f"{load.level:g} {plural(load.level, 'request')}/s"


def cell(point: Point) -> str:
    """The load, and which of its runs after the first: `16`, `16·2`."""
    return level(point.load) + (f"·{point.repeat + 1}" if point.repeat else "")


def bound_text(bound: Bound) -> str:
    """`p99 TTFT ≤ 450 ms`, or `TTFT ≤ 500 ms` for a bound on every request."""
    limit = f"{bound.limit_s * 1e3:g} ms" if bound.limit_s < 1 else f"{bound.limit_s:g} s"
    which = "" if bound.quantile is None else f"p{bound.quantile * 100:g} "
    return f"{which}{bound.metric.upper()} ≤ {limit}"


def slo_title(slo: Slo) -> str:
    """A preset's name with its bounds; bounds alone where they are the name."""
    bounds = ", ".join(bound_text(bound) for bound in slo.bounds)
    return bounds if "<" in slo.name else f"{slo.name} ({bounds})"


def slo_name(slo: Slo) -> str:
    """What a sentence calls it."""
    return slo_title(slo) if "<" in slo.name else slo.name
