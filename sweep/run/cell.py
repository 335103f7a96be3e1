"""One cell under load, and the point it makes."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from sweep import records as rows
from sweep.model import Cell, Health, Point, Window
from sweep.plan import start
from sweep.run.source import Source
from sweep.run.spending import Purse
from sweep.run.watch import Watch

if TYPE_CHECKING:
    from sweep.curve.journal import Header
    from sweep.records import Records


def measure(cell: Cell, header: Header, source: Source, watch: Watch, purse: Purse) -> tuple[Point, Records, bool]:
    """One cell under load until `stop.decide` has enough, and the point it makes.

    And whether the user interrupted what comes after the load, which loses nothing that was measured.
    """
    from sweep.load.health import merged
    from sweep.measure import point, reasons, stop, window

    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    running = source.measure(cell, header.endpoint, header.run_id)
    done = rows.EMPTY
    heard_ns: dict[int, int] = {}
    health: list[Health] = []
    decision: stop.Decision | None = None
    started_ns = asked_ns = None
    try:
        for batch in running:
            heard_ns[batch.worker] = batch.at_ns
            now_ns = min(heard_ns.values())  # until when everything is known
            started_ns = now_ns if started_ns is None else started_ns
            done = rows.concat([done, batch.done])
            if batch.health is not None:
                health.append(batch.health)
            asked = stop.decide(cell, done, batch.open, started_ns, now_ns, asked_ns)
            asked_ns = now_ns
            watch.live(cell, asked.live)
            if decision is not None:
                continue
            if purse.empty(done, batch.open):
                asked = replace(asked, kind="enough", end_ns=batch.at_ns, reason=reasons.TOKEN_CAP)
            elif asked.kind == "go" and purse.over(done, (now_ns - started_ns) / 1e9):
                steady = asked.live.stage != "start"
                asked = replace(asked, kind="enough" if steady else "abort", end_ns=now_ns, reason=reasons.TIME_CAP)
            if asked.kind == "enough":
                running.finish(asked.end_ns or batch.at_ns)
            elif asked.kind == "abort":
                running.abort()
            decision = asked if asked.kind != "go" else None
    finally:
        running.close()
    done, interrupted = running.recounted(done)
    until_ns = decision.end_ns if decision is not None and decision.end_ns is not None else time.monotonic_ns()
    placed = _dated(window.place(cell, done, until_ns), header.settings.virtual)
    done = window.with_phases(done, placed)
    reason = decision.reason if decision is not None else "the workers ended"
    seen = merged(health) if health else None
    begun = None
    if cell.start == "equilibrium":
        begun = start.begun_mid_flight(cell, done["request"], done["isl_asked"], done["osl_asked"])
    measured = point.measure(cell, done, placed, header.plan.slos, seen, header.endpoint, started_at, reason, begun)
    return measured, done, interrupted


def _dated(placed: Window | None, virtual: bool) -> Window | None:
    """With the moment when it began; in virtual time there is none."""
    if placed is None or virtual:
        return placed
    moment = datetime.fromtimestamp(time.time() - (time.monotonic_ns() - placed.begin_ns) / 1e9, UTC)
    return msgspec.structs.replace(placed, began_at=moment.isoformat(timespec="milliseconds"))
