"""Points and what is known beside them, put together into the curve that is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.curve.artifact import as_stored
from sweep.curve.drift import moved, unconfirmed
from sweep.curve.frontier import default_axis, frontier, frontiers
from sweep.curve.refine import levels_ahead, over_budget, unlimited
from sweep.curve.repeats import repeats
from sweep.curve.setup import Declared, four_questions
from sweep.model import SCHEMA, Curve, Endpoint, Fact, Finding, Plan, Point, Tool

LIMITED = {"budget", "token-cap"}  # findings that say why a sweep ended before all its cells


def assemble(
    points: Sequence[Point],
    *,
    name: str,
    created_at: str,
    run_id: str,
    tool: Tool,
    plan: Plan,
    endpoint: Endpoint,
    client: Mapping[str, Any],
    declared: Declared | None = None,
    findings: Sequence[Finding] = (),
    complete: bool = True,
    calibration: Mapping[str, Any] | None = None,
    interleaved: Mapping[str, str] | None = None,
) -> Curve:
    """`findings` are those of the endpoint; those of the curve as a whole are added here. `calibration`: a self-test's result."""
    points = as_stored(points)
    of_plan = plan_findings(plan, points, endpoint)
    questions = four_questions(plan, endpoint, points, client, declared)
    return Curve(
        schema=SCHEMA,
        name=name,
        created_at=created_at,
        run_id=run_id,
        tool=tool,
        profile=plan.profile,
        slos=plan.slos,
        plan=plan,
        endpoint=endpoint,
        scenario=questions.scenario | _turns(interleaved),
        constraint=questions.constraint,
        software=questions.software,
        hardware=questions.hardware,
        client=questions.client,
        price=questions.price,
        points=points,
        frontiers=frontiers(points, endpoint.rate_unit),
        findings=(
            *findings,
            *own_findings(points, complete, (*findings, *of_plan)),
            *of_plan,
            *_beyond(points, calibration),
        ),
        complete=complete,
        repeats=repeats(points),
        calibration=dict(calibration) if calibration is not None else None,
    )


def _turns(interleaved: Mapping[str, str] | None) -> dict[str, Fact]:
    """The group of sweeps that took turns with this one, and its place among them."""
    return {} if interleaved is None else {"interleaved": Fact(value=dict(interleaved), known="measured")}


def plan_findings(plan: Plan, points: Sequence[Point], endpoint: Endpoint) -> list[Finding]:
    """What did not stand when it was measured again, and what the plan asked for beyond its budget."""
    found = unconfirmed(points)
    step = unlimited(plan, points)
    if step is not None and over_budget(plan, points, step.level, endpoint):
        ahead, known = dict.fromkeys((step.level, *levels_ahead(plan, points, step))), {point.load.level for point in points}
        what = ", ".join(f"{level:g}{' again' if level in known else ''}" for level in ahead)
        found.append(Finding(code="budget", data={"budget_s": plan.budget_s, "what": what}))
    return found


def own_findings(points: Sequence[Point], complete: bool, others: Sequence[Finding]) -> list[Finding]:
    """What points and completeness say; `others` may say already why cells are missing."""
    found = []
    if not complete and LIMITED.isdisjoint(finding.code for finding in others):
        found.append(Finding(code="partial", data={"done": len(points)}))
    found += [finding for finding in [moved(points)] if finding is not None]
    sound = {point.id: point.load.level for point in points if not point.disqualified}
    best = frontier(points, default_axis(points)).vertices
    if len(set(sound.values())) > 1 and len(best) == 1 and min(sound.values()) in {sound.get(each) for each in best[0].points}:
        found.append(Finding(code="one-vertex"))
    return found


def _beyond(points: Sequence[Point], calibration: Mapping[str, Any] | None) -> list[Finding]:
    """Whether tokens came faster than the self-test of this machine was exact. Where it was never inexact it proves no limit."""
    if calibration is None or calibration.get("exact_to_the_end"):
        return []
    exact = calibration.get("exact_tok_per_s") or 0.0
    rate = max((point.rates["output_tok_per_s"].value or 0.0 for point in points), default=0.0)
    return [Finding(code="beyond-selftest", data={"rate": rate, "exact": exact})] if rate > exact else []
