"""What one curve file says about its night: the little that judging needs, read without building the rest.

A file is verified before it is believed. The writer's layout is the digested text plus line breaks, so for a file as `sweep`
wrote it the digest is that of its bytes without layout and without the `digest` line: no second encoding. Any other layout is
decoded and encoded again, as `artifact.load` does.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from sweep.curve import artifact
from sweep.curve.nightly.metric import LATENCIES, PACES, RATES, STATISTICS, stored_as
from sweep.curve.setup import pooled_lengths
from sweep.curve.workload import must_match
from sweep.errors import ArtifactError
from sweep.model import SCHEMA, Curve, Endpoint, Fact, LengthStats, Load, Night, NightCell, Plan, Profile, StartKind

QUESTIONS = ("constraint", "software", "hardware", "client", "price")
UNTOLD = frozenset({"client.rtt_s", "constraint.slos"})  # measured anew every night, or no part of the system


class _Value(msgspec.Struct, frozen=True):
    value: float | None = None
    few: bool = False


class _Spot(msgspec.Struct, frozen=True):
    x: float
    y: float


class _Frontier(msgspec.Struct, frozen=True):
    x_label: str
    y_label: str
    vertices: tuple[_Spot, ...]


class _Point(msgspec.Struct, frozen=True):
    load: Load
    start: StartKind
    cohort: int
    outcomes: dict[str, int]
    isl: LengthStats
    osl: LengthStats
    token_sources: dict[str, int]
    metrics: dict[str, dict[str, _Value]]
    rates: dict[str, _Value]
    disqualified: bool = False


class _Sparse(msgspec.Struct, frozen=True):
    """The fields of a curve that a night is made of."""

    schema: str
    name: str
    created_at: str
    profile: Profile
    plan: Plan
    endpoint: Endpoint
    constraint: dict[str, Fact]
    software: dict[str, Fact]
    hardware: dict[str, Fact]
    client: dict[str, Fact]
    price: dict[str, Fact]
    points: tuple[_Point, ...]
    frontiers: tuple[_Frontier, ...]
    digest: str | None = None


_SPARSE = msgspec.json.Decoder(_Sparse)


def read(path: Path) -> Night:
    """The night of a curve file. Raises ArtifactError for one that is cut short, changed, or no curve file."""
    raw = artifact.read(path)
    try:
        sparse = _SPARSE.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return night_of(artifact.loads(raw, path.name), str(path))  # an older version, or an error said in full
    if sparse.schema != SCHEMA or len(raw) > artifact.MAX_BYTES or not _holds(raw, sparse.digest):
        return night_of(artifact.loads(raw, path.name), str(path))
    return _night(sparse, str(path))


def night_of(curve: Curve, file: str) -> Night:
    """The night of a curve that is already here."""
    return _night(msgspec.convert(msgspec.to_builtins(curve), _Sparse), file)


def _holds(raw: bytes, digest: str | None) -> bool:
    """Whether the file, without its layout, has this digest. False also for a layout that is not the writer's."""
    lines = (line.lstrip(b" ") for line in raw.split(b"\n"))
    text = b"".join(line.replace(b'": ', b'":', 1) if line.startswith(b'"') else line for line in lines)
    text = re.sub(rb',"digest":"[^"]*"', b"", text, count=1)
    return digest == "sha256:" + hashlib.sha256(text).hexdigest()


def _night(sparse: _Sparse, file: str) -> Night:
    try:
        at = datetime.fromisoformat(sparse.created_at)
    except ValueError:
        raise ArtifactError(f"{sparse.name}: $.created_at is no time", "get the original") from None
    at_s = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    first = next((frontier for frontier in sparse.frontiers if frontier.vertices), None)
    return Night(
        name=sparse.name,
        file=file,
        at=sparse.created_at,
        at_s=at_s,
        digest=sparse.digest,
        model=sparse.endpoint.model,
        profile=sparse.profile,
        plan=sparse.plan,
        # must_match reads nothing of a curve that this does not have
        workload={**must_match(cast("Curve", sparse)), "dialect": sparse.endpoint.dialect},
        isl_mean=pooled_lengths(point.isl for point in sparse.points).mean,
        osl_mean=pooled_lengths(point.osl for point in sparse.points).mean,
        facts=_facts(sparse),
        cells=_cells(sparse.points),
        frontier=tuple((spot.x, spot.y) for spot in first.vertices) if first else (),
        frontier_labels=(first.x_label, first.y_label) if first else ("", ""),
    )


def _cells(points: Iterable[_Point]) -> tuple[NightCell, ...]:
    """One a load: repeats are averaged on the log scale, and one that is disqualified takes no part."""
    loads: dict[Load, list[_Point]] = {}
    for point in points:
        loads.setdefault(point.load, []).append(point)
    return tuple(_cell(load, loads[load]) for load in sorted(loads, key=lambda load: (load.kind, load.level)))


def _cell(load: Load, repeats: list[_Point]) -> NightCell:
    trusted = [_values(point) for point in repeats if not point.disqualified]
    cohort = sum(point.cohort for point in repeats)
    return NightCell(
        load=load,
        cohort=cohort,
        failed=cohort - sum(point.outcomes.get("ok", 0) for point in repeats),
        disqualified=not trusted,
        values=averaged(trusted),
    )


def averaged(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Geometric means by name, each of those that have it."""
    names = {name for each in values for name in each}
    logs = {name: [math.log(each[name]) for each in values if name in each] for name in sorted(names)}
    return {name: math.exp(sum(each) / len(each)) for name, each in logs.items()}


def _values(point: _Point) -> dict[str, float]:
    """What may decide: positive, and resting on enough requests."""
    found = {name: point.rates.get(name) for name in RATES}
    for metric in (*LATENCIES, *PACES):
        statistics = point.metrics.get(stored_as(metric), {})
        found |= {f"{metric}_{statistic}": statistics.get(statistic) for statistic in STATISTICS}
    return {name: one.value for name, one in found.items() if one is not None and one.value and one.value > 0 and not one.few}


def _facts(sparse: _Sparse) -> dict[str, Any]:
    """`software.version` -> "0.31": what is known of the system, for the diff between nights."""
    told = {f"{section}.{key}": fact.value for section in QUESTIONS for key, fact in getattr(sparse, section).items()}
    return {key: value for key, value in sorted(told.items()) if value is not None and key not in UNTOLD}
