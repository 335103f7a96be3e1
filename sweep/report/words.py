"""What a curve says, in sentences, and what was noticed on the way."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from sweep import findings
from sweep.model import Curve, Finding, Load, Point, Slo
from sweep.report import quantity
from sweep.report.table import slo_result
from sweep.wording import plural

RISE = 1.03  # throughput is measured to 3 %: less than that is no rise
ORDER: dict[str, int] = {"disqualifies": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Notice:
    """A kind of finding: how much it weighs, what it said and in which cells (none: of the whole curve), what to do next."""

    weight: findings.Weight
    seen: tuple[tuple[tuple[str, ...], str], ...]
    advice: str

    def lines(self, limit: int = 1000) -> list[str]:
        """`at 64, 128·2: …`; beyond `limit` only where the like was seen."""
        made = [f"at {', '.join(levels)}: {text}" if levels else text for levels, text in self.seen[:limit]]
        more = [level for levels, _ in self.seen[limit:] for level in levels]
        return [*made, f"and the like at {', '.join(dict.fromkeys(more))}"] if more else made


def sentences(curve: Curve) -> list[str]:
    """What was found, most wanted first; every sentence stands alone."""
    points = [point for point in quantity.by_load(curve.points) if not point.disqualified]
    if not points:
        nothing = "No point can be trusted: nothing is claimed." if curve.points else "No cell was measured."
        return [*_overloaded(curve), nothing]
    return [
        *(_slo_sentence(slo, points) for slo in curve.slos),
        _throughput_sentence(points, curve.endpoint.rate_unit, len(points) == len(curve.points)),
        *_overloaded(curve),
        *_alone(points, curve.endpoint.rate_unit),
        *_left_out(curve),
    ]


def _slo_sentence(slo: Slo, points: list[Point]) -> str:
    """How far up the SLO holds before it is first missed, as `sweep pick` says."""
    name = quantity.slo_name(slo)
    judged = [(point, result) for point in points if (result := slo_result(point, slo.name))]
    if not judged:
        return f"{name} was not evaluated."
    verdicts = {
        load: {result.verdict for point, result in judged if point.load == load} for load in _loads([p for p, _ in judged])
    }
    loads = list(verdicts)
    missed = next((load for load in loads if "missed" in verdicts[load]), None)
    reach = loads if missed is None else loads[: loads.index(missed)]
    held = [load for load in reach if verdicts[load] == {"met"}]
    if held == loads:
        return f"Meets {name} at every load measured, up to {_at(held[-1])}."
    top = reach.index(held[-1]) if held else 0
    below, above = [load for load in reach[:top] if load not in held], [load for load in reach[top:] if load not in held]
    rest = [f"below that too few requests to decide at {', '.join(map(quantity.level, below))}"] if below else []
    rest += [f"too few requests to decide at {_at(above[0])}"] if above else []
    rest += [f"missed at {_at(missed)}"] if missed is not None else []
    if held:
        return f"Meets {name} up to {_at(held[-1])}{'; ' if rest else ''}{', '.join(rest)}."
    if above:
        return f"Meeting {name} is undecided: {', '.join(rest)}."
    shares = [result.attainment.value for _, result in judged if result.attainment.value is not None]
    closest = f"; at best {quantity.percent(max(shares))} of the requests keep it" if shares else ""
    return f"Does not meet {name} at the lowest load measured, {_at(loads[0])}{closest}."


_at = quantity.level_in_words


def _loads(points: list[Point]) -> list[Load]:
    return list(dict.fromkeys(point.load for point in points))


def _throughput_sentence(points: list[Point], unit: str, all_count: bool) -> str:
    rates: list[tuple[Load, float]] = []
    for load in _loads(points):
        values = [rate.value for point in points if point.load == load and (rate := quantity.rate(point)) and rate.value]
        if values:
            rates.append((load, fmean(values)))
    if not rates:
        return "No throughput was measured."
    top_load, top = max(rates, key=lambda each: each[1])
    peak = f"{quantity.significant(top)} output {unit}"
    if len(rates) == 1:
        return f"Delivers {peak} at {quantity.level_in_words(top_load)}, the only load {'measured' if all_count else 'that counts'}."
    stop = next(
        load for index, (load, value) in enumerate(rates) if all(later <= RISE * value for _, later in rates[index + 1 :])
    )
    if stop == rates[0][0]:
        return f"More load buys no throughput: {peak} at best, already reached at {quantity.level_in_words(stop)}."
    if stop == rates[-1][0]:
        return f"Throughput still rises at {quantity.level_in_words(stop)}, the highest load that counts: {peak}."
    return f"Throughput stops rising at {quantity.level_in_words(stop)}; at most {peak}."


def _alone(points: list[Point], unit: str) -> list[str]:
    """What one user gets at the lowest load."""
    first = points[0]
    ttft, pace = quantity.metric(first, "ttft_s", "p50"), quantity.interactivity(first)
    if ttft is None or pace is None:
        return []
    return [
        f"At {quantity.level_in_words(first.load)} a user waits {quantity.seconds(ttft.value)} for the first token "
        f"and then reads {quantity.significant(pace.value)} {unit} (medians)."
    ]


def _overloaded(curve: Curve) -> list[str]:
    """From which rate on it falls behind."""
    beyond = [point for point in quantity.by_load(curve.points) if any(one.code == "overloaded" for one in point.findings)]
    return [f"The endpoint cannot keep up with {quantity.level_in_words(beyond[0].load)}."] if beyond else []


def _left_out(curve: Curve) -> list[str]:
    out = [point for point in quantity.by_load(curve.points) if point.disqualified]
    if not out:
        return []
    where = ", ".join(dict.fromkeys(quantity.level(point.load) for point in out))
    load = "concurrency" if out[0].load.kind == "closed" else "load"
    return [f"{len(out)} of {len(curve.points)} points {plural(len(out), 'is', 'are')} disqualified, at {load} {where}."]


def notices(curve: Curve) -> list[Notice]:
    """The curve's and its points' findings, one notice a code, the heaviest first."""
    codes: dict[str, dict[str, list[str]]] = {}
    for finding in curve.findings:
        codes.setdefault(finding.code, {}).setdefault(said(finding), [])
    for point in quantity.by_load(curve.points):
        for finding in point.findings:
            codes.setdefault(finding.code, {}).setdefault(said(finding), []).append(quantity.cell(point))
    made = [
        Notice(weight(code), tuple((tuple(dict.fromkeys(levels)), text) for text, levels in texts.items()), _advice(code))
        for code, texts in codes.items()
    ]
    return sorted(made, key=lambda notice: ORDER[notice.weight])


def said(finding: Finding) -> str:
    """The finding in words; one of a later version, or with other data, is shown as it is stored."""
    try:
        return findings.says(finding)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        data = ", ".join(f"{key} {value}" for key, value in sorted(finding.data.items()))
        return f"{finding.code} ({data})" if data else finding.code


def weight(code: str) -> findings.Weight:
    """How much a finding weighs; one of a later version is a note."""
    return findings.TABLE[code].weight if code in findings.TABLE else "note"


def _advice(code: str) -> str:
    return findings.TABLE[code].advice if code in findings.TABLE else ""
