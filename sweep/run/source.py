"""What cells are measured on: a live endpoint, the embedded one, or the embedded one in virtual time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import msgspec

from sweep.errors import UsageError
from sweep.model import Cell, Endpoint, Images, Plan
from sweep.prompt.text import offer
from sweep.run.dataset import read
from sweep.run.settings import Settings

if TYPE_CHECKING:
    from sweep.load.canary import Canary
    from sweep.load.client import Target
    from sweep.load.fleet import Fleet
    from sweep.prompt.ids import Passage
    from sweep.records import Batch, Records


class Running(Protocol):
    """A cell under load, real or virtual."""

    def __iter__(self) -> Iterator[Batch]: ...
    def finish(self, end_ns: int) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...
    def recounted(self, records: Records) -> tuple[Records, bool]: ...


class Source(Protocol):
    """What cells are measured on."""

    def probe(self, dialect: str, text: str, images: Images | None, osl: int | None, body: str | None) -> Endpoint: ...
    def fit(self, plan: Plan, endpoint: Endpoint) -> None: ...
    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str) -> Running: ...
    def reachable(self) -> bool: ...
    def canary(self, endpoint: Endpoint, run_id: str) -> Canary | None: ...


@contextmanager
def opened(settings: Settings) -> Iterator[Source]:
    """The endpoint meant, ready to be measured: live, embedded, or embedded in virtual time."""
    if not settings.virtual:
        with addressed(settings.endpoint) as (url, simulated):
            yield from _live(settings, url, simulated)
        return
    from sweep.sim import virtual

    preset = preset_of(settings.endpoint)
    if preset is None:
        raise UsageError("--virtual needs the simulated endpoint", "give --endpoint sim or sim:PRESET")
    yield virtual.Source(preset)


@contextmanager
def addressed(endpoint: str) -> Iterator[tuple[str, str | None]]:
    """An endpoint's URL and None; for the embedded one, which is served meanwhile, its URL and its preset."""
    preset = preset_of(endpoint)
    if preset is None:
        yield endpoint, None
        return
    from sweep.sim import server

    with server.start(preset) as served:
        yield served.url, preset


def preset_of(endpoint: str) -> str | None:
    """The preset that `sim` or `sim:PRESET` means; None for any other endpoint."""
    from sweep.sim.device import DEFAULT

    scheme, named, preset = endpoint.partition(":")
    return (preset if named else DEFAULT) if scheme == "sim" else None


def _live(settings: Settings, url: str, simulated: str | None) -> Iterator[Source]:
    from sweep.load.client import target_from
    from sweep.load.fleet import Fleet
    from sweep.load.sizing import require_cores

    if settings.workers is not None:
        require_cores(settings.workers)
    environ = os.environ if settings.keys_from_environment else {}
    target = target_from(url, model=settings.model, headers=settings.headers, insecure=settings.insecure, environ=environ)
    material = read(settings.dataset, settings.tokenizer).material if settings.dataset is not None else None
    if material is not None:
        offer(material.kind, material.pieces)  # for preflight, which asks from this process
    if settings.tokenizer is not None:
        from sweep.load.tokenizer import encoder

        encoder(str(settings.tokenizer))  # says at once when it cannot be used
        target = msgspec.structs.replace(target, tokenizer=str(settings.tokenizer.absolute()))
    with Fleet(target, settings.workers, material) as fleet:
        yield _Live(target, fleet, simulated, settings.canary)


@dataclass(slots=True)
class _Live:
    """A served endpoint under a fleet of workers."""

    target: Target
    fleet: Fleet
    simulated: str | None
    sings: bool
    passages: dict[tuple[str, str], Passage] = field(default_factory=dict)  # by dialect and kind of text

    def probe(self, dialect: str, text: str, images: Images | None, osl: int | None, body: str | None) -> Endpoint:
        from sweep.load import preflight

        extra = msgspec.json.decode(body) if body else None
        endpoint, passage = preflight.explore(self.target, dialect, text, images, osl, extra)
        self.target = msgspec.structs.replace(self.target, model=endpoint.model)  # from now on that one is meant
        if passage is not None:
            self.passages[dialect, text] = passage
        return msgspec.structs.replace(endpoint, simulated=self.simulated)

    def fit(self, plan: Plan, endpoint: Endpoint) -> None:
        self.fleet.fit(plan, endpoint)

    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str) -> Running:
        passage = self.passages.get((endpoint.dialect, cell.profile.text))
        return self.fleet.measure(cell, endpoint, run_id, passage)

    def reachable(self) -> bool:
        from sweep.load.reach import reachable

        return reachable(self.target)

    def canary(self, endpoint: Endpoint, run_id: str) -> Canary | None:
        from sweep.load.canary import canary

        return canary(self.target, endpoint, run_id) if self.sings else None
