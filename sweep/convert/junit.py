"""Nightly judgements as JUnit XML: one suite a history, one case a metric, a failure for what is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from sweep import findings
from sweep.curve.nightly.alarm import ERRORS
from sweep.curve.nightly.words import latest_night, suspect_text, when
from sweep.model import History, Suspect

INVALID_IN_XML = {code: None for code in range(32) if code not in (9, 10, 13)}


def junit(histories: Sequence[History], *, strict: bool = False) -> str:
    """With `strict` a suspicion is a failure too."""
    root = ElementTree.Element("testsuites", name="sweep regress")
    for history in histories:
        suite = ElementTree.SubElement(root, "testsuite", name=_clean(history.title))
        metrics = [*(line.metric for line in history.timelines), ERRORS]
        cases = [_case(suite, history, metric, strict) for metric in metrics]
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(len(suite.findall("./testcase/failure"))))
        suite.set("skipped", str(len(suite.findall("./testcase/skipped"))))
        suite.set("errors", "0")
        if history.nights:
            suite.set("timestamp", history.nights[-1].at[:19])
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, history: History, metric: str, strict: bool) -> ElementTree.Element:
    case = ElementTree.SubElement(suite, "testcase", classname=_clean(history.title), name=metric)
    if not history.judged:
        return case
    latest = history.judged[-1]
    worse = [one for one in latest.suspects if one.metric == metric and one.direction == "worse"]
    said = _clean("; ".join(map(suspect_text, worse)))
    if worse and (history.verdict == "regressed" or (strict and history.verdict == "suspected")):
        failure = ElementTree.SubElement(case, "failure", message=said, type=history.verdict)
        failure.text = _since(history, worse)
    elif history.verdict in ("learning", "unjudged"):
        why = history.unfair or "; ".join(map(findings.says, latest.findings)) or latest_night(history)
        ElementTree.SubElement(case, "skipped", message=_clean(f"{history.verdict}: {why}"))
    elif worse:
        ElementTree.SubElement(case, "system-out").text = f"suspected: {said}"
    return case


def _since(history: History, suspects: Sequence[Suspect]) -> str:
    named = {(one.metric, one.cell) for one in suspects}
    for change in reversed(history.changes):
        if named & {(one.metric, one.cell) for one in change.suspects}:
            name = history.nights[change.began].name
            return _clean(f"began {when(history, change.began)} ({name}), confirmed {when(history, change.confirmed)}")
    return ""


def _clean(text: str) -> str:
    return text.translate(INVALID_IN_XML)
