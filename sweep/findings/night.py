"""What can be noticed of a night beside those before it; a resumed sweep may find its system changed too."""

from __future__ import annotations

from sweep.findings.kind import Kind

NIGHT: dict[str, Kind] = {
    "grid-changed": Kind(
        "note",
        "another grid than the nights before: {new} new, {gone} gone",
        "new loads are judged after {learning} nights; keep the grid fixed with --grid",
    ),
    "nights-missing": Kind(
        "warning",
        "{count} {count:night is|nights are} missing before this one",
        "look at the scheduler's log; gaps are never filled in",
    ),
    "error-jump": Kind(
        "warning",
        "{share:.2%} of the requests failed, {usual:.2%} in the nights before",
        "look at the outcomes of this night's points",
    ),
    "night-disqualified": Kind(
        "warning",
        "disqualified this night: {cells}",
        "the night's own page says why; these loads take no part in the judgement",
    ),
    "system-changed": Kind(
        "note", "{what}: {before} → {after}", "declared or read from the server; a change that begins here may be this"
    ),
    "not-confirmed": Kind("note", "the suspicion of {night} was not confirmed", "that night takes no part in the baseline"),
    "recovered": Kind("note", "back at the level before {night}", "the baseline of before holds again"),
    "remeasured": Kind(
        "note",
        "measured again at once, the suspicion {holds}",
        "the night's noise is shared by what is measured at once: only the next night, or a restart of the server, confirms",
    ),
    "nothing-to-judge": Kind(
        "warning", "no load of this night can be judged", "every point is disqualified, or the loads are new"
    ),
}
