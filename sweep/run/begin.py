"""Where a curve is written, made sure of before the endpoint is asked anything; its journal, before the first request."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sweep.errors import UsageError
from sweep.model import Endpoint, Plan
from sweep.run.settings import Prepared, Settings

if TYPE_CHECKING:
    from sweep.curve.journal import Journal


def require_output(settings: Settings, plans: list[Plan]) -> None:
    """Everything that could keep the files from being written, found before anything is asked of the endpoint."""
    from sweep.curve import folder, journal

    names = [plan.profile.name for plan in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"profile {twice} is given twice", "use --repeat to measure every load more than once")
    if settings.dry_run:
        return
    folder.require_writable(settings.out)
    if settings.name is not None:
        for plan in plans:
            journal.require_free(settings.out / _name(settings, plan, "", ""))


def _name(settings: Settings, plan: Plan, model: str, moment: str) -> str:
    """Of the folder and of the files in it. Several profiles share the name asked for, each with its own ending."""
    from sweep.curve import folder

    place = f"-{settings.interleaved['place']}" if settings.interleaved else ""
    if settings.name is None:
        return folder.slug(f"{model}-{plan.profile.name}-{moment}{place}")
    return folder.slug(f"{settings.name}{'' if len(settings.profiles) == 1 else f'-{plan.profile.name}'}{place}")


def begin(settings: Settings, ready: Prepared, plan: Plan, endpoint: Endpoint, held: ExitStack) -> Journal:
    """The folder and the journal of a new curve, on the disk before the first request is measured; ours alone while `held` is."""
    from sweep.curve import folder, journal
    from sweep.load.host import tool

    now = datetime.now(UTC)
    name = _name(settings, plan, endpoint.model, f"{now:%Y%m%dT%H%M%SZ}")
    header = journal.Header(
        name=name,
        created_at=now.isoformat(timespec="seconds"),
        run_id=secrets.token_hex(4),
        tool=tool(),
        plan=plan,
        endpoint=endpoint,
        keep_chunks=settings.keep_chunks,
        declared=ready.declared,
        settings=journal.RunSettings(
            virtual=settings.virtual,
            workers=settings.workers,
            max_tokens=settings.max_tokens,
            interleaved=dict(settings.interleaved) if settings.interleaved else None,
            dataset=str(settings.dataset.absolute()) if settings.dataset else None,
            tokenizer=str(settings.tokenizer.absolute()) if settings.tokenizer else None,
            canary=settings.canary,
        ),
        calibration=ready.calibration,
    )
    place = folder.create(settings.out, name)
    journal.make_room(place)
    held.enter_context(journal.alone(place))
    return journal.create(place, header)
