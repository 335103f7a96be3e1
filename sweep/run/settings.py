"""What the user asked for, and what can be known of it before the endpoint is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sweep.errors import ProfileError, UsageError
from sweep.model import Effort, Images, LoadKind, Plan, Profile, StartKind
from sweep.plan import grid, lengths, profile, scenario, slo
from sweep.plan.problems import AUDIO_KINDS
from sweep.run import body

CAP_S, VIRTUAL_CAP_S = 600.0, 86_400.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user asked for, as asked. `headers` are secret and stay in memory."""

    endpoint: str
    profiles: tuple[str, ...] = ("1k-1k",)
    model: str | None = None
    dialect: str | None = None  # None: as the profile says
    slos: tuple[str, ...] = ()
    grid: str | None = None
    rate: str | None = None
    kind: LoadKind = "closed"
    duration_s: float | None = None
    requests: int | None = None
    start: StartKind | None = None
    repeats: int = 1
    effort: Effort = "standard"
    budget_s: float | None = None
    cap_s: float | None = None  # None: ten minutes, in virtual time a day
    idle_timeout_s: float | None = None
    max_concurrency: int | None = None
    max_tokens: int | None = None
    seed: int = 0
    workers: int | None = None  # None: what the plan's expected pace needs
    headers: tuple[str, ...] = field(default=(), repr=False)
    insecure: bool = False
    dataset: Path | None = None  # prompts or lengths of the user's own
    body: str | None = None  # fields for every request: a JSON object, or the file that holds one
    tokenizer: Path | None = None  # a tokenizer.json, for answers whose tokens the endpoint does not count
    describe: Path | None = None
    calibration: Path | None = None  # what `sweep selftest --json` said on this machine
    declared: tuple[str, ...] = ()
    out: Path = Path("reports")
    name: str | None = None
    keep_chunks: bool = False
    dry_run: bool = False
    virtual: bool = False
    canary: bool = True  # ask fixed prompts outside the cells
    interleaved: Mapping[str, str] | None = None  # group, place and order, where several endpoints take turns
    keys_from_environment: bool = True  # not where several hosts take turns: a key is meant for one of them
    recovery_s: float = 30.0  # how long an endpoint that stopped answering is waited for


@dataclass(frozen=True, slots=True)
class Prepared:
    """What can be known of a sweep before its endpoint is asked."""

    plans: list[Plan]
    declared: dict[str, Any]
    calibration: dict[str, Any] | None


def prepare(settings: Settings) -> Prepared:
    from sweep.curve import declare
    from sweep.curve.files import read_text

    profiles = _profiles(settings)
    slos = [parsed for text in settings.slos for parsed in slo.parse(text)]
    levels = _levels(settings)
    plans = [_plan(settings, each, slos, levels) for each in profiles]
    declared = declare.parse(read_text(settings.describe) if settings.describe else None, settings.declared)
    return Prepared(plans, declared, _calibration(settings.calibration))


def _profiles(settings: Settings) -> list[Profile]:
    """The workloads, each in a dialect that is known and takes what the profile sends."""
    from sweep import dialect

    loaded = [profile.load_profile(text) for text in settings.profiles]
    if settings.dialect is not None:
        dialect.get(settings.dialect)
        loaded = [msgspec.structs.replace(each, dialect=settings.dialect) for each in loaded]
    if settings.dataset is not None:
        from sweep.run.dataset import applied

        loaded = [applied(each, settings.dataset, settings.tokenizer) for each in loaded]
    if settings.body is not None:
        given = body.read(settings.body)
        loaded = [msgspec.structs.replace(each, body=(each.body or {}) | given) for each in loaded]
    for each in loaded:
        try:
            takes = dialect.get(each.dialect).TRAITS.inputs
        except UsageError as error:
            raise ProfileError(f"profile {each.name}: $.dialect: {error.message}", error.hint) from None
        sends = ["audio" if each.text in AUDIO_KINDS else "text", *(["images"] if each.images else [])]
        lacking = next((kind for kind in sends if kind not in takes), None)
        if lacking is not None:
            raise ProfileError(
                f"profile {each.name} sends {lacking}, dialect {each.dialect} takes {' and '.join(takes)}",
                "choose another profile or --dialect",
            )
        body.require_free(dialect.get(each.dialect), each.body or {})
    return loaded


def manner(each: Profile) -> tuple[str, str, Images | None, int | None, str | None]:
    """What of a profile an endpoint may answer differently to: one preflight each. The last is its body, as JSON."""
    from sweep import dialect

    batch = None if dialect.get(each.dialect).TRAITS.streams else lengths.nominal(each.osl)
    extra = msgspec.json.encode(each.body, order="sorted").decode() if each.body else None
    return each.dialect, each.text, each.images, batch, extra


def _levels(settings: Settings) -> tuple[float, ...] | None:
    if settings.grid and settings.rate:
        raise UsageError("--grid and --rate exclude each other", "--grid is for concurrency, --rate for requests per second")
    if settings.rate:
        return grid.parse_grid(settings.rate, whole=False)
    return grid.parse_grid(settings.grid) if settings.grid else None


def _plan(settings: Settings, each: Profile, slos: list[Any], levels: tuple[float, ...] | None) -> Plan:
    return scenario.make_plan(
        each,
        slos=slos,
        seed=settings.seed,
        grid=levels,
        duration_s=settings.duration_s,
        requests=settings.requests,
        max_concurrency=settings.max_concurrency,
        kind=settings.kind,
        start=settings.start,
        repeats=settings.repeats,
        cap_s=settings.cap_s or (VIRTUAL_CAP_S if settings.virtual else CAP_S),
        idle_timeout_s=settings.idle_timeout_s,
        diligence=settings.effort,
        budget_s=settings.budget_s,
    )


def _calibration(path: Path | None) -> dict[str, Any] | None:
    """A self-test's result, made on a machine of this kind."""
    from sweep.curve.files import read_text
    from sweep.load.host import observed

    if path is None:
        return None
    hint = "write it with `sweep selftest --json > FILE`"
    try:
        said = msgspec.json.decode(read_text(path))
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: {error}", hint) from None
    if not isinstance(said, dict) or not str(said.get("schema")).startswith("sweep.selftest/"):
        raise UsageError(f"{path}: not a self-test's result", hint)
    client = said.get("client")
    if not isinstance(client, dict) or client.get("fingerprint") != observed()["fingerprint"]:
        raise UsageError(f"{path}: the self-test of another machine", "run `sweep selftest --json` on this one")
    return said
