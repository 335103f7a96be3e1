"""The one loop: plan → load → measure → refine → journal → curve → files.

Every room does its own work; this module hands things on, starts and stops `sim:` endpoints, and sees to it that whatever
happens (Ctrl-C, a dead endpoint, a full disk) the cells already measured are on the disk.
"""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

import sweep
from sweep import records as rows
from sweep.errors import EndpointError, Interrupted, OutputError, ProfileError, SweepError, TrustError, UsageError
from sweep.model import (
    Cell,
    Curve,
    Effort,
    Endpoint,
    Expected,
    Finding,
    Health,
    Images,
    Live,
    LoadKind,
    Plan,
    Point,
    Profile,
    StartKind,
    Tool,
)
from sweep.plan import budget, grid, lengths, profile, scenario, slo, start

if TYPE_CHECKING:
    from sweep.curve.journal import Header, Journal
    from sweep.load.canary import Canary
    from sweep.load.client import Target
    from sweep.load.fleet import Fleet
    from sweep.records import Records

SIMULATED = "synthetic-8b-bf16"
CAP_S, VIRTUAL_CAP_S = 600.0, 86_400.0
LOSSES = 3  # how often an endpoint may stop answering before its failures count as its own


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
    recovery_s: float = 30.0  # how long an endpoint that stopped answering is waited for


class Watch(Protocol):
    """Who is told what happens. `planned` answers whether to go on."""

    def planned(self, plan: Plan, endpoint: Endpoint, expected: Expected) -> bool: ...
    def cell_started(self, cell: Cell) -> None: ...
    def live(self, cell: Cell, live: Live) -> None: ...
    def cell_done(self, point: Point) -> None: ...
    def curve_done(self, curve: Curve, paths: dict[str, Path]) -> None: ...


class Batch(Protocol):
    """`done`: requests that ended since the batch before; `open`: those in flight, their outcome null; `health` comes last."""

    @property
    def worker(self) -> int: ...
    @property
    def at_ns(self) -> int: ...
    @property
    def done(self) -> Records: ...
    @property
    def open(self) -> Records: ...
    @property
    def health(self) -> Health | None: ...


class Running(Protocol):
    """A cell under load, real or virtual."""

    def __iter__(self) -> Iterator[Batch]: ...
    def finish(self, end_ns: int) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class Source(Protocol):
    """What cells are measured on."""

    def probe(self, dialect: str, text: str, images: Images | None, osl: int | None) -> Endpoint: ...
    def fit(self, plan: Plan, endpoint: Endpoint) -> None: ...
    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str) -> Running: ...
    def reachable(self) -> bool: ...
    def canary(self, endpoint: Endpoint, run_id: str) -> Canary | None: ...


# --- the two ways to begin ---------------------------------------------------------------------------------------


def run(settings: Settings, watch: Watch) -> list[Curve]:
    """Sweeps every profile over the endpoint: one curve a profile, written before the next begins.

    Raises a SweepError for whatever a user can cause; what was measured until then is on the disk.
    """
    from sweep.curve import declare

    profiles = _profiles(settings)
    slos = [parsed for text in settings.slos for parsed in slo.parse(text)]
    levels = _levels(settings)
    plans = [_plan(settings, each, slos, levels) for each in profiles]
    declared = declare.parse(_text(settings.describe), settings.declared)
    calibration = _calibration(settings.calibration)
    with _source(settings) as source:
        _require_output(settings, plans)
        endpoints = {manner: source.probe(*manner) for manner in dict.fromkeys(map(_manner, profiles))}
        sweeps = [(plan, endpoints[_manner(plan.profile)]) for plan in plans]
        for plan, endpoint in sweeps:
            budget.require_context(plan.profile, endpoint)
            source.fit(plan, endpoint)
        for plan, endpoint in sweeps:
            if not watch.planned(plan, endpoint, budget.expected(plan, endpoint)):
                return []
        if settings.dry_run:
            return []
        journals = [_begin(settings, plan, endpoint, declared, calibration) for plan, endpoint in sweeps]
        curves = [_sweep(journal, source, watch, recovery_s=settings.recovery_s) for journal in journals]
    _judge(curves)
    return curves


def resume(run_folder: Path, watch: Watch, *, headers: tuple[str, ...] = ()) -> list[Curve]:
    """Goes on with the cells that an interrupted sweep left, on the endpoint it was measuring."""
    from sweep.curve import journal
    from sweep.measure import preflight

    begun = journal.reopen(run_folder)
    endpoint = begun.header.endpoint
    settings = Settings(
        endpoint=f"sim:{endpoint.simulated}" if endpoint.simulated else endpoint.url,
        model=endpoint.model,
        headers=headers,
        insecure=endpoint.insecure,
        virtual=begun.header.settings.virtual,
        workers=begun.header.settings.workers,
        tokenizer=Path(found) if (found := begun.header.settings.tokenizer) else None,
        canary=begun.header.settings.canary,
    )
    with _source(settings) as source:
        now = source.probe(*_manner(begun.header.plan.profile))
        source.fit(begun.header.plan, now)
        changed = preflight.changes(endpoint, now)
        curve = _sweep(begun, source, watch, recovery_s=settings.recovery_s, resumed=True, findings=changed)
    _judge([curve])
    return [curve]


def _profiles(settings: Settings) -> list[Profile]:
    """The workloads, each in a dialect that is known and takes what the profile sends."""
    from sweep import dialect

    loaded = [profile.load_profile(text) for text in settings.profiles]
    if settings.dialect is not None:
        dialect.get(settings.dialect)
        loaded = [msgspec.structs.replace(each, dialect=settings.dialect) for each in loaded]
    for each in loaded:
        try:
            takes = dialect.get(each.dialect).TRAITS.inputs
        except UsageError as error:
            raise ProfileError(f"profile {each.name}: $.dialect: {error.message}", error.hint) from None
        sends = ["audio" if each.text in profile.AUDIO_KINDS else "text", *(["images"] if each.images else [])]
        lacking = next((kind for kind in sends if kind not in takes), None)
        if lacking is not None:
            raise ProfileError(
                f"profile {each.name} sends {lacking}, dialect {each.dialect} takes {' and '.join(takes)}",
                "choose another profile or --dialect",
            )
    return loaded


def _manner(each: Profile) -> tuple[str, str, Images | None, int | None]:
    """What of a profile an endpoint may answer differently to: one preflight each."""
    from sweep import dialect

    batch = None if dialect.get(each.dialect).TRAITS.streams else lengths.nominal(each.osl)
    return each.dialect, each.text, each.images, batch


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


def _text(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}", "name a readable file") from None


def _calibration(path: Path | None) -> dict[str, Any] | None:
    """A self-test's result, made on a machine of this kind."""
    from sweep.load.host import observed

    text = _text(path)
    if text is None:
        return None
    hint = "write it with `sweep selftest --json > FILE`"
    try:
        said = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: {error}", hint) from None
    if not isinstance(said, dict) or not str(said.get("schema")).startswith("sweep.selftest/"):
        raise UsageError(f"{path}: not a self-test's result", hint)
    client = said.get("client")
    if not isinstance(client, dict) or client.get("fingerprint") != observed()["fingerprint"]:
        raise UsageError(f"{path}: the self-test of another machine", "run `sweep selftest --json` on this one")
    return said


# --- the endpoint ------------------------------------------------------------------------------------------------


@contextmanager
def _source(settings: Settings) -> Iterator[Source]:
    """The endpoint meant, ready to be measured: live, embedded, or embedded in virtual time."""
    scheme, _, preset = settings.endpoint.partition(":")
    simulated = (preset or SIMULATED) if scheme == "sim" else None
    if settings.virtual:
        from sweep.sim import virtual

        if simulated is None:
            raise UsageError("--virtual needs the simulated endpoint", "give --endpoint sim or sim:PRESET")
        yield virtual.Source(simulated)
    elif simulated is not None:
        from sweep.sim import server

        with server.start(simulated) as served:
            yield from _live(settings, served.url, simulated)
    else:
        yield from _live(settings, settings.endpoint, None)


def _live(settings: Settings, url: str, simulated: str | None) -> Iterator[Source]:
    from sweep.load.client import target_from
    from sweep.load.fleet import Fleet

    target = target_from(url, model=settings.model, headers=settings.headers, insecure=settings.insecure)
    if settings.tokenizer is not None:
        from sweep.prompt.tokenizer import counter

        counter(str(settings.tokenizer))  # says at once when it cannot be used
        target = msgspec.structs.replace(target, tokenizer=str(settings.tokenizer.absolute()))
    with Fleet(target, settings.workers) as fleet:
        yield _Live(target, fleet, simulated, settings.canary)


@dataclass(frozen=True, slots=True)
class _Live:
    """A served endpoint under a fleet of workers."""

    target: Target
    fleet: Fleet
    simulated: str | None
    sings: bool

    def probe(self, dialect: str, text: str, images: Images | None, osl: int | None) -> Endpoint:
        from sweep.load import preflight

        return msgspec.structs.replace(preflight.probe(self.target, dialect, text, images, osl), simulated=self.simulated)

    def fit(self, plan: Plan, endpoint: Endpoint) -> None:
        self.fleet.fit(plan, endpoint)

    def measure(self, cell: Cell, endpoint: Endpoint, run_id: str) -> Running:
        return self.fleet.measure(cell, endpoint, run_id)

    def reachable(self) -> bool:
        from sweep.load.reach import reachable

        return reachable(self.target)

    def canary(self, endpoint: Endpoint, run_id: str) -> Canary | None:
        from sweep.load.canary import canary

        return canary(self.target, endpoint, run_id) if self.sings else None


# --- one curve ---------------------------------------------------------------------------------------------------


def _require_output(settings: Settings, plans: list[Plan]) -> None:
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

    if settings.name is None:
        return folder.slug(f"{model}-{plan.profile.name}-{moment}")
    return folder.slug(settings.name if len(settings.profiles) == 1 else f"{settings.name}-{plan.profile.name}")


def _begin(
    settings: Settings, plan: Plan, endpoint: Endpoint, declared: dict[str, Any], calibration: dict[str, Any] | None
) -> Journal:
    """The folder and the journal of a new curve, on the disk before the first request is measured."""
    from sweep.curve import folder, journal

    now = datetime.now(UTC)
    name = _name(settings, plan, endpoint.model, f"{now:%Y%m%dT%H%M%SZ}")
    header = journal.Header(
        name=name,
        created_at=now.isoformat(timespec="seconds"),
        run_id=secrets.token_hex(4),
        tool=Tool(name="pareto-sweep", version=sweep.__version__, python=platform.python_version()),
        plan=plan,
        endpoint=endpoint,
        keep_chunks=settings.keep_chunks,
        declared=declared,
        settings=journal.RunSettings(
            virtual=settings.virtual,
            workers=settings.workers,
            max_tokens=settings.max_tokens,
            tokenizer=str(settings.tokenizer.absolute()) if settings.tokenizer else None,
            canary=settings.canary,
        ),
        calibration=calibration,
    )
    return journal.create(folder.create(settings.out, name), header)


def _sweep(
    journal: Journal,
    source: Source,
    watch: Watch,
    *,
    recovery_s: float,
    resumed: bool = False,
    findings: Iterable[Finding] = (),
) -> Curve:
    """Cells until the curve is complete, the user stops it, the tokens are spent, or the endpoint is gone for good.

    Whatever ended it, the curve of the finished cells is written before that is raised.
    """
    from sweep.curve.journal import reopen
    from sweep.measure.preflight import findings as of_endpoint

    found = [*of_endpoint(journal.header.endpoint), *findings]
    stopped: SweepError | None = None
    try:
        cells = _cells(journal, source, watch, found, recovery_s, resumed)
        canary = source.canary(journal.header.endpoint, journal.header.run_id)
        for grown in cells if canary is None else canary.between(cells, found):
            journal = grown
            watch.cell_done(journal.points[-1])
    except KeyboardInterrupt:
        journal = reopen(journal.folder.parent)  # a cell may have reached the disk in this very moment
        stopped = _interrupted(journal)
    except SweepError as error:
        stopped = error
    try:
        curve, paths = _publish(journal, found, stopped)
    except KeyboardInterrupt:
        stopped = _interrupted(journal)
        curve, paths = _publish(journal, found, stopped)
    except (OSError, OutputError) as error:
        raise _unwritable(journal, error) from None
    watch.curve_done(curve, paths)
    if stopped is not None:
        raise stopped
    return curve


def _interrupted(journal: Journal) -> Interrupted:
    return Interrupted(f"interrupted after {_count(journal)}", f"sweep resume {journal.folder.parent} goes on")


def _unwritable(journal: Journal, error: OSError | OutputError) -> OutputError:
    said = error.message if isinstance(error, OutputError) else f"{error.filename or journal.folder}: {error.strerror or error}"
    folder = journal.folder.parent
    return OutputError(said, f"the {_count(journal)} finished are kept; free some space, then: sweep resume {folder}")


def _count(journal: Journal) -> str:
    return "1 cell" if len(journal.points) == 1 else f"{len(journal.points)} cells"


def _cells(
    journal: Journal, source: Source, watch: Watch, found: list[Finding], recovery_s: float, resumed: bool
) -> Iterator[Journal]:
    """The journal after each cell. What is noticed of the sweep as a whole is added to `found`."""
    from sweep.curve.journal import next_request
    from sweep.curve.refine import failing, levels_ahead, next_level, spent_s

    header = journal.header
    measured = journal.records()
    first_request = next_request(measured, after_a_loss=resumed)
    allowance = header.settings.max_tokens
    tokens_left = None if allowance is None else allowance - _tokens(measured)
    losses = 0
    while (step := next_level(header.plan, journal.points)) is not None:
        if tokens_left is not None and tokens_left <= 0:
            found.append(Finding(code="token-cap", data={"tokens": allowance}))
            return
        cell = scenario.make_cell(
            header.plan,
            header.endpoint,
            index=journal.next_index(),
            level=step.level,
            repeat=step.repeat,
            first_request=first_request,
            spend_s=budget.share_s(
                header.plan,
                header.endpoint,
                step.level,
                levels_ahead(header.plan, journal.points, step),
                spent_s(journal.points),
            ),
        )
        watch.cell_started(cell)
        point, records = _measure(cell, header, source, watch, tokens_left)
        first_request = max(first_request, 1 + int(records["request"].max(initial=-1)))
        tokens_left = None if tokens_left is None else tokens_left - _tokens(records)
        if failing(point) and losses < LOSSES and not source.reachable():
            losses += 1
            if not _returned(source, recovery_s):
                raise EndpointError(
                    f"the endpoint stopped answering at {cell.load.label}",
                    f"when it is back: sweep resume {journal.folder.parent}",
                )
            continue  # the same step once more: the journal does not hold it
        journal = journal.append(cell, point, records)
        yield journal
    if losses:
        found.append(Finding(code="endpoint-lost", data={"count": losses}))


def _measure(cell: Cell, header: Header, source: Source, watch: Watch, tokens_left: int | None) -> tuple[Point, Records]:
    """One cell under load until `stop.decide` has enough, and the point it makes."""
    from sweep.load.health import merged
    from sweep.measure import point, stop, window

    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    running = source.measure(cell, header.endpoint, header.run_id)
    done = rows.EMPTY
    opened: dict[int, Records] = {}
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
            opened[batch.worker] = batch.open
            if batch.health is not None:
                health.append(batch.health)
            open_now = rows.concat(list(opened.values()))
            asked = stop.decide(cell, done, open_now, started_ns, now_ns, asked_ns)
            asked_ns = now_ns
            watch.live(cell, asked.live)
            if decision is not None:
                continue
            if tokens_left is not None and _tokens(done) + _tokens(open_now) >= tokens_left:
                asked = replace(asked, kind="enough", end_ns=batch.at_ns, reason="token cap")
            if asked.kind == "enough":
                running.finish(asked.end_ns or batch.at_ns)
            elif asked.kind == "abort":
                running.abort()
            decision = asked if asked.kind != "go" else None
    finally:
        running.close()
    until_ns = decision.end_ns if decision is not None and decision.end_ns is not None else time.monotonic_ns()
    placed = window.place(cell, done, until_ns)
    done = window.with_phases(done, placed)
    reason = decision.reason if decision is not None else "the workers ended"
    seen = merged(health) if health else None
    measured = point.measure(cell, done, placed, header.plan.slos, seen, header.endpoint, started_at, reason)
    return _opened(measured, cell, done), done


def _opened(measured: Point, cell: Cell, done: Records) -> Point:
    """The point with how many slots began in mid-flight, where that was asked."""
    if cell.start != "equilibrium":
        return measured
    begun = start.begun_mid_flight(cell, done["request"], done["isl_asked"], done["osl_asked"])
    queued = Finding(code="queued-start", data={"mid_flight": begun, "slots": round(cell.load.level)})
    noticed = (queued,) if measured.window is not None and begun < cell.load.level else ()
    return msgspec.structs.replace(measured, mid_flight=begun, findings=(*measured.findings, *noticed))


def _tokens(records: Records) -> int:
    """Tokens sent and received, as far as they are known: what a hosted endpoint would charge."""
    sent = records.present("sent_ns")
    answered = records.present("osl")
    return int(records["isl_asked"][sent].sum() + records["osl"][answered].sum())


def _returned(source: Source, patience_s: float) -> bool:
    """Whether the endpoint answers again in time."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        if source.reachable():
            return True
        time.sleep(0.5)
    return False


# --- what is left behind -----------------------------------------------------------------------------------------


def _publish(journal: Journal, found: list[Finding], stopped: SweepError | None) -> tuple[Curve, dict[str, Path]]:
    """The curve of what the journal holds, and its files. After an interruption only those that take no time to draw."""
    from sweep.curve import artifact, assemble, hlog, parquet, refine
    from sweep.load.host import observed

    header, folder = journal.header, journal.folder.parent
    curve = assemble.assemble(
        journal.points,
        name=header.name,
        created_at=header.created_at,
        run_id=header.run_id,
        tool=header.tool,
        plan=header.plan,
        endpoint=header.endpoint,
        client=observed(),
        declared=header.declared,
        findings=found,
        complete=refine.next_level(header.plan, journal.points) is None,
        calibration=header.calibration,
    )
    paths = {"curve": artifact.save(curve, folder)}
    paths |= {kind: folder / f"{curve.name}.{kind}" for kind in ("records.parquet", "hlog")}
    parquet.write_records(paths["records.parquet"], journal.records(), keep_chunks=header.keep_chunks)
    hlog.save(curve, paths["hlog"])
    if not isinstance(stopped, Interrupted):
        from sweep.report import figure, page

        paths |= {kind: folder / f"{curve.name}.{kind}" for kind in ("svg", "png", "html")}
        figure.save(curve, paths["svg"], paths["png"])
        page.save(curve, paths["html"])
    return curve, paths


def _judge(curves: list[Curve]) -> None:
    """Exit codes are for scripts: nothing succeeded, or nothing can be trusted. All files are written by now."""
    points = [point for curve in curves for point in curve.points]
    if points and not any(point.outcomes_all.get("ok") for point in points):
        raise EndpointError("no request succeeded at any load", "the findings and the records' error column say why")
    if points and all(point.disqualified for point in points):
        raise TrustError("every point is disqualified", "the findings say why and what to do next")
