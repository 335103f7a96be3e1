"""How suspicions and changes read, wherever they are written."""

from __future__ import annotations

from sweep.curve.nightly.alarm import ERRORS
from sweep.curve.nightly.metric import parse
from sweep.model import Change, History, Suspect, Timeline


def suspect_text(suspect: Suspect) -> str:
    """`output throughput −5.2 % on the whole curve`, `TTFT p50 +15.3 % at c16`."""
    if suspect.track == "errors":
        return f"failed requests {suspect.change * 100:+.2f} points"
    where = "on the whole curve" if suspect.cell is None else f"at {suspect.cell}"
    return f"{metric_title(suspect.metric)} {percent(suspect.change)} {where}"


def metric_title(metric: str) -> str:
    return "failed requests" if metric == ERRORS else parse(metric).title


def percent(change: float | None) -> str:
    """`+5.2 %` with a true minus; `–` where nothing is known."""
    if change is None:
        return "–"
    rounded = round(change * 100, 1) or 0.0  # never −0.0
    return f"{rounded:+.1f} %".replace("-", "−") if rounded else "0.0 %"


def this_night(history: History, line: Timeline) -> float | None:
    """How far the latest night lies from those before it; None where there are none, for then it is compared with itself."""
    return line.change[-1] if history.judged and history.judged[-1].baseline else None


def change_text(history: History, change: Change) -> str:
    """`worse since 2026-05-30 (confirmed 2026-05-31): output throughput −6.7 % on the whole curve`."""
    began, confirmed = (history.nights[place].at[:10] for place in (change.began, change.confirmed))
    what = ", ".join(map(suspect_text, change.suspects))
    ended = "" if change.ended is None else f", back since {history.nights[change.ended].at[:10]}"
    with_it = [
        f"{one.data['what']} {one.data['before']} → {one.data['after']} on this night"
        for one in history.judged[change.began].findings
        if one.code == "system-changed"
    ]
    return f"{change.direction} since {began} (confirmed {confirmed}{ended}): {what}" + "".join(f"; {each}" for each in with_it)
