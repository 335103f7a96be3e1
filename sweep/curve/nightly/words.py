"""How nights, suspicions and changes read, wherever they are written."""

from __future__ import annotations

from sweep.curve.nightly.alarm import ERRORS
from sweep.curve.nightly.metric import parse
from sweep.curve.nightly.tracks import MIN_NIGHTS
from sweep.model import Change, History, Suspect, Timeline
from sweep.wording import counted


def when(history: History, place: int) -> str:
    """`2026-05-30`, with the time of day where another night has the same date."""
    at = history.nights[place].at
    alone = sum(night.at[:10] == at[:10] for night in history.nights) == 1
    return at[:10] if alone else f"{at[:10]} {at[11:16]}"


def latest_night(history: History) -> str:
    """`night of 2026-05-30, against 20 nights before; 60 nights since 2026-04-01`."""
    last = len(history.nights) - 1
    return f"night of {when(history, last)}, {_compared(history)}; {counted(last + 1, 'night')} since {when(history, 0)}"


def _compared(history: History) -> str:
    """What the latest night was held against."""
    latest = history.judged[-1]
    if latest.verdict == "learning":
        missing = MIN_NIGHTS - 1 - latest.baseline
        return f"judging begins after {counted(missing, 'more night')}" if missing > 0 else "judging begins with the next"
    if latest.verdict in ("regressed", "improved") and history.changes and history.changes[-1].ended is None:
        return "against the level before the change"
    return f"against {counted(latest.baseline, 'night')} before" if latest.baseline else "with no night before"


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


def drifting(history: History, line: Timeline) -> str:
    """`since 2026-05-30`; nothing where nothing drifts."""
    return "" if line.drift is None else f"since {when(history, line.drift)}"


def this_night(history: History, line: Timeline) -> float | None:
    """How far the latest night lies from those before it; None where there are none, for then it is compared with itself."""
    return line.change[-1] if history.judged and history.judged[-1].baseline else None


def change_text(history: History, change: Change) -> str:
    """`worse since 2026-05-30 (confirmed 2026-05-31): output throughput −6.7 % on the whole curve`."""
    began, confirmed = (when(history, place) for place in (change.began, change.confirmed))
    what = ", ".join(map(suspect_text, change.suspects))
    ended = "" if change.ended is None else f", back since {when(history, change.ended)}"
    with_it = [
        f"{one.data['what']} {one.data['before']} → {one.data['after']} on this night"
        for one in history.judged[change.began].findings
        if one.code == "system-changed"
    ]
    return f"{change.direction} since {began} (confirmed {confirmed}{ended}): {what}" + "".join(f"; {each}" for each in with_it)
