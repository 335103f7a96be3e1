"""The one loop: plan → load → measure → refine → journal → curve → files.

Every room does its own work; this one hands things on, starts and stops `sim:` endpoints, and sees to it that whatever
happens (Ctrl-C, a dead endpoint, a full disk) the cells already measured are on the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.model import Curve, Endpoint, Plan
from sweep.plan import budget
from sweep.run import dataset, spending
from sweep.run.begin import begin, require_output
from sweep.run.curve import sweeping
from sweep.run.lost import require_same_model
from sweep.run.publish import judge
from sweep.run.settings import Prepared, Settings, manner, prepare
from sweep.run.source import Source, opened
from sweep.run.turns import in_turns
from sweep.run.watch import Watch

if TYPE_CHECKING:
    from sweep.curve.journal import Journal

__all__ = ["Settings", "Watch", "interleave", "judge", "resume", "run"]


def run(settings: Settings, watch: Watch) -> list[Curve]:
    """Sweeps every profile over the endpoint: one curve a profile, written before the next begins.

    Raises a SweepError for whatever a user can cause; what was measured until then is on the disk.
    """
    curves = interleave([settings], watch)
    judge(curves)
    return curves


def interleave(several: Sequence[Settings], watch: Watch) -> list[Curve]:
    """As `run`, for endpoints that take turns cell by cell, so that the time of day cannot decide between them.

    Every profile is measured on all of them before the next begins. The curves come by profile, then by endpoint; whether they
    can be trusted is for `judge` to say.
    """
    prepared = [prepare(each) for each in several]
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(each)) for each in several]
        announce, asked = _announcing(several, watch), []
        for place, (each, ready, source) in enumerate(zip(several, prepared, sources, strict=True)):
            announce(place)
            asked.append(_agreed(each, ready, source, watch))
        if not all(asked):
            return []
        curves: list[Curve] = []
        begun = [
            [begin(each, ready, plan, endpoint, stack) for plan, endpoint in agreed]
            for each, ready, agreed in zip(several, prepared, asked, strict=True)
        ]
        for journals in zip(*begun, strict=True):
            taking_turns = zip(journals, sources, several, strict=True)
            sweeps = [sweeping(one, on, watch, recovery_s=each.recovery_s) for one, on, each in taking_turns]
            curves += in_turns(sweeps, announce)
    return curves


def _announcing(several: Sequence[Settings], watch: Watch) -> Callable[[int], None]:
    """Tells the watch whose turn it is, where several take turns."""
    places = [each.interleaved["place"] if each.interleaved else "" for each in several]
    return lambda index: watch.turn(places[index]) if places[index] else None


def _agreed(settings: Settings, ready: Prepared, source: Source, watch: Watch) -> list[tuple[Plan, Endpoint]]:
    """What will be swept, once it is known to be possible; nothing when only the plan was wanted or the user said no."""
    require_output(settings, ready.plans)
    endpoints = {manner: source.probe(*manner) for manner in dict.fromkeys(manner(plan.profile) for plan in ready.plans)}
    sweeps = [(plan, endpoints[manner(plan.profile)]) for plan in ready.plans]
    for plan, endpoint in sweeps:
        budget.require_context(plan.profile, endpoint)
        spending.require_enough(plan, settings.max_tokens)
        budget.require_time(plan, endpoint)
        source.fit(plan, endpoint)
    for plan, endpoint in sweeps:
        if not watch.planned(plan, endpoint, budget.expected(plan, endpoint)):
            return []
    return [] if settings.dry_run else sweeps


def resume(
    run_folder: Path,
    watch: Watch,
    *,
    headers: tuple[str, ...] = (),
    max_tokens: int | None = None,
    budget_s: float | None = None,
) -> list[Curve]:
    """Goes on with the cells that an interrupted sweep left, on the endpoint it was measuring.

    `max_tokens` and `budget_s` take the place of its own limits; what it has spent counts.
    """
    from sweep.curve import journal

    with journal.alone(run_folder):
        begun = journal.reopen(run_folder)
        return _resumed(spending.relimited(begun, max_tokens, budget_s), watch, headers)


def _resumed(begun: Journal, watch: Watch, headers: tuple[str, ...]) -> list[Curve]:
    from sweep.measure import preflight

    endpoint = begun.header.endpoint
    settings = Settings(
        endpoint=f"sim:{endpoint.simulated}" if endpoint.simulated else endpoint.url,
        model=endpoint.model,
        headers=headers,
        insecure=endpoint.insecure,
        virtual=begun.header.settings.virtual,
        workers=begun.header.settings.workers,
        dataset=dataset.still(begun.header.plan.profile, begun.header.settings.dataset),
        tokenizer=Path(found) if (found := begun.header.settings.tokenizer) else None,
        canary=begun.header.settings.canary,
    )
    with opened(settings) as source:
        now = source.probe(*manner(begun.header.plan.profile))
        require_same_model(endpoint, now)
        source.fit(begun.header.plan, now)
        changed = preflight.changes(endpoint, now)
        (curve,) = in_turns([sweeping(begun, source, watch, recovery_s=settings.recovery_s, resumed=True, findings=changed)])
    judge([curve])
    return [curve]
