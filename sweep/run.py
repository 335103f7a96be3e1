"""The one loop: plan → load → measure → refine → journal → curve → files.

Every room does its own work; this module only hands things on, starts and stops `sim:` endpoints, and makes sure that
whatever happens (Ctrl-C, a dead endpoint, a full disk) the cells already measured are on disk.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sweep import records as rows
from sweep.errors import EndpointError, Interrupted, TrustError
from sweep.load import preflight
from sweep.load.client import Target, target_from
from sweep.load.fleet import Fleet
from sweep.model import Cell, Curve, Endpoint, Finding, Health, Live, LoadKind, Plan, Point, StartKind
from sweep.plan import budget, grid, profile, scenario, slo

if TYPE_CHECKING:
    from sweep.curve.journal import Journal
    from sweep.measure.stop import Decision
    from sweep.records import Records
    from sweep.sim.virtual import VirtualFleet

RECOVERY_S = 30.0
"""How long an endpoint that stopped answering is waited for before the sweep ends with what it has."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user asked for, as asked; everything has a default but the endpoint."""

    endpoint: str
    profiles: tuple[str, ...] = ("1k-1k",)
    model: str | None = None
    slos: tuple[str, ...] = ()
    grid: str | None = None
    duration_s: float | None = None
    requests: int | None = None
    rate: str | None = None
    kind: LoadKind = "closed"
    start: StartKind | None = None
    repeats: int = 1
    cap_s: float = 600.0
    idle_timeout_s: float = 60.0
    max_concurrency: int | None = None
    max_tokens: int | None = None
    seed: int = 0
    workers: int = 1
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    insecure: bool = False
    declared: Mapping[str, str] = field(default_factory=dict)
    out: Path = Path("reports")
    name: str | None = None
    keep_chunks: bool = False
    dry_run: bool = False
    virtual: bool = False


class Watch(Protocol):
    """Who is told what happens. `planned` answers whether to go on."""

    def planned(self, plan: Plan, endpoint: Endpoint, expected: budget.Expected) -> bool: ...
    def cell_started(self, cell: Cell) -> None: ...
    def live(self, cell: Cell, live: Live) -> None: ...
    def cell_done(self, point: Point) -> None: ...
    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None: ...
