"""Has the curve moved? The nightly judgement from files, and what follows from it for a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from sweep.curve.nightly import history as files
from sweep.curve.nightly import night as reading
from sweep.curve.nightly.comparable import Comparable, histories
from sweep.curve.nightly.judge import judge
from sweep.curve.nightly.rules import Rules, rules
from sweep.errors import TrustError, UsageError
from sweep.model import Curve, Finding, History, Judgement, Load, Night


def regress(paths: Iterable[str | Path], how: Rules | None = None) -> list[History]:
    """Judges every history found in these files and folders. Raises UsageError when there is none, TrustError for an unfair baseline."""
    how = how or rules()
    found = files.find([Path(path) for path in paths])
    if not found.nights:
        reasons = "; ".join(f"{each.file}: {each.reason}" for each in found.set_aside[:3])
        raise UsageError(reasons or "no curve file here", "name a folder with *.curve.json, or curve files")
    groups = histories(found)
    if how.fixed is not None:
        groups = _fair(how.fixed, groups)
    return [judge(group, how) for group in groups]


def gate(folder: Path, curve: Curve) -> History:
    """Adds tonight's curve to a history and judges it: the history it belongs to. Raises OutputError."""
    path = files.append(folder, curve)
    model, profile, kind = curve.endpoint.model, curve.profile.name, curve.plan.kind
    for history in regress([folder]):
        aside = any(Path(each.file) == path for each in history.set_aside) and history.unfair is not None
        latest = history.nights[-1] if history.nights else None
        if aside or (latest and (latest.model, latest.profile.name, latest.plan.kind) == (model, profile, kind)):
            return history
    raise TrustError(f"{path}: not found again in its history", "look at the files set aside by `sweep regress`")


def exit_code(histories: Iterable[History], *, strict: bool = False) -> int:
    """1 a regression is confirmed (with `strict`: suspected), 4 the latest night cannot be judged, else 0."""
    verdicts = {history.verdict for history in histories}
    if "regressed" in verdicts or (strict and "suspected" in verdicts):
        return 1
    return 4 if "unjudged" in verdicts else 0


def suspect_loads(history: History) -> tuple[Load, ...]:
    """The loads to measure again: those suspected, or all of the latest night where the whole curve is."""
    if history.verdict != "suspected":
        return ()
    suspects = [one for one in history.judged[-1].suspects if one.direction == "worse"]
    cells = {one.cell for one in suspects}
    return tuple(cell.load for cell in history.nights[-1].cells if None in cells or cell.load.label in cells)


def remeasured(history: History, curve: Curve, how: Rules, *, restarted: bool) -> History:
    """The history after its suspect loads were measured again: judged anew when the server was restarted, else only annotated."""
    again = judge(
        Comparable(history.title, (*history.nights, reading.night_of(curve, curve.name)), history.set_aside, history.unfair),
        how,
    )
    if restarted:
        return again
    holds = "holds" if again.verdict == "regressed" else "does not show"
    latest = history.judged[-1]
    noted = msgspec.structs.replace(latest, findings=(*latest.findings, Finding(code="remeasured", data={"holds": holds})))
    judged: tuple[Judgement, ...] = (*history.judged[:-1], noted)
    return msgspec.structs.replace(history, judged=judged)


def _fair(fixed: Night, groups: Sequence[Comparable]) -> list[Comparable]:
    """The histories that are about the baseline's model and workload. Raises TrustError, with the keys that differ, for none."""
    fair, differing = [], []
    for group in groups:
        latest = group.nights[-1]
        ours, theirs = ({"model": each.model, **each.workload} for each in (latest, fixed))
        keys = [key for key, value in theirs.items() if ours.get(key) != value]
        differing += keys
        if not keys:
            fair.append(group)
    if not fair:
        raise TrustError(
            f"the baseline {fixed.name} is another workload: {', '.join(dict.fromkeys(differing))} differ",
            "choose a baseline measured with the same profile",
        )
    return fair
