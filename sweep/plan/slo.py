"""The words in which a user states an SLO, and the presets.

    ttft<=0.5s,e2e<=10s                  every request keeps each bound
    ttft_p99<=450ms,tpot_p99<=40ms       that share of the requests keeps it
    mlperf-llama2-70b-interactive        a preset of profiles/slo.toml

Terms joined by commas make one SLO; every preset among them is one of its own.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from functools import cache
from typing import Literal, cast, get_args

from sweep.errors import SloError
from sweep.model import Bound, Slo
from sweep.plan.packaged import PRESETS_FILE, profiles_dir

Metric = Literal["ttft", "tpot", "e2e"]
METRICS: tuple[str, ...] = get_args(Metric)
PER_S = {"s": 1, "ms": 1_000, "us": 1_000_000, "µs": 1_000_000}
_TERM = re.compile(
    r"(?P<metric>\w+?)(?:_p(?P<percent>\d+(?:\.\d+)?))?\s*(?P<sign><=|≤|<|>=|>|==?|:)\s*(?P<limit>[-+\d.][-+\d.e]*)?\s*(?P<unit>\S*)"
)
_EXAMPLE = "write ttft_p99<=450ms,tpot_p99<=40ms or ttft<=0.5s,e2e<=10s"


def parse(text: str) -> tuple[Slo, ...]:
    """The SLOs a text states. Raises SloError with one line and a hint that lists what is known."""
    named: list[Slo] = []
    terms: list[str] = []
    bounds: list[Bound] = []
    for part in (part.strip() for part in text.split(",")):
        match = _TERM.fullmatch(part.lower())
        if match:
            terms.append(re.sub(r"\s+", "", part.lower()))
            bounds.append(_bound(match, part))
        else:
            named.append(_preset(part))
    _reject_repeats(bounds, text)
    return (*named, Slo(name=",".join(terms), bounds=tuple(bounds))) if bounds else tuple(named)


@cache
def presets() -> dict[str, Slo]:
    """Every row of profiles/slo.toml: name to Slo with its source. A row may state that its rules set no latency bound."""
    rows = tomllib.loads((profiles_dir() / PRESETS_FILE).read_text(encoding="utf-8"))
    return {name: _row(name, row) for name, row in rows.items()}


def _row(name: str, row: dict[str, str]) -> Slo:
    bounds = parse(row["slo"])[0].bounds if row["slo"] else ()
    return Slo(name=name, bounds=bounds, source=row["source"])


def _preset(name: str) -> Slo:
    slo = presets().get(name.lower())
    if slo is None:
        what = f"unknown SLO {name!r}" if name else "a term is missing in the SLO"
        raise SloError(what, _known(name))
    if not slo.bounds:
        raise SloError(f"SLO {name!r} sets no latency bound ({slo.source})", _EXAMPLE)
    return slo


def _bound(match: re.Match[str], part: str) -> Bound:
    if match["metric"] not in METRICS:
        raise SloError(f"SLO {part!r}: unknown metric {match['metric']!r}", _known(match["metric"]))
    if match["sign"] not in ("<=", "≤"):
        raise SloError(f"SLO {part!r}: bounds are upper and inclusive", _EXAMPLE)
    return Bound(
        metric=cast("Metric", match["metric"]),
        limit_s=_limit_s(match["limit"] or "", match["unit"], part),
        quantile=None if match["percent"] is None else _quantile(match["percent"], part),
    )


def _limit_s(limit: str, unit: str, part: str) -> float:
    try:
        value = float(limit)
    except ValueError:
        what = f"{limit + unit!r} is not a number" if limit + unit else "the limit is missing"
        raise SloError(f"SLO {part!r}: {what}", _EXAMPLE) from None
    if not unit:
        raise SloError(f"SLO {part!r}: the unit is missing", f"write {limit}ms or {limit}s")
    if unit not in PER_S:
        raise SloError(f"SLO {part!r}: unknown unit {unit!r}", "known: s, ms, us")
    if not math.isfinite(value) or value <= 0:
        raise SloError(f"SLO {part!r}: the bound must be finite and above 0", _EXAMPLE)
    return value / PER_S[unit]


def _quantile(percent: str, part: str) -> float:
    """p99 and p99.9; more than two digits without a point begin with nine, as in p999 and p995."""
    pointless = percent.startswith("9") and len(percent) > 2 and "." not in percent
    digits = f"{percent[:2]}.{percent[2:]}" if pointless else percent
    quantile = round(float(digits) / 100, 12)
    if not 0 < quantile < 1:
        raise SloError(
            f"SLO {part!r}: p{percent} is no percentile", "use p50, p90, p95, p99, p99.9; no percentile: every request"
        )
    return quantile


def _reject_repeats(bounds: list[Bound], text: str) -> None:
    kinds = [(bound.metric, bound.quantile) for bound in bounds]
    if len(set(kinds)) < len(kinds):
        raise SloError(f"SLO {text!r} bounds the same thing twice", "give each metric and percentile once")


def _known(name: str) -> str:
    names = list(presets())
    close = difflib.get_close_matches(name.lower(), [*METRICS, *names], n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    bounded = [known for known, slo in presets().items() if slo.bounds]
    return f"{meant}known metrics: {', '.join(METRICS)} (units s, ms, us); presets: {', '.join(bounded)}"
