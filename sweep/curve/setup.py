"""The four questions one asks of any published number — scenario, constraint, software, hardware — and client and price beside.

Every answer says how it is known: measured by this sweep, read from the server, declared by a person, or missing. A missing
answer is written down as missing, so that a comparison can say "not verifiable" instead of guessing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from sweep.model import Curve, Endpoint, Fact, LengthStats, Plan, Point

MISSING = Fact(value=None, known="missing")
Facts = dict[str, Fact]
Declared = Mapping[str, Mapping[str, Any]]  # section -> key -> value, as `declare.py` reads it

SOFTWARE = ("server", "version", "model", "precision", "flags", "speculative_decoding", "parallelism", "cache", "place")
HARDWARE = ("accelerators", "accelerator_count", "power_w", "host", "interconnect", "provider", "region")
PRICE = ("currency", "per_accelerator_hour", "per_million_input_tokens", "per_million_output_tokens")
CLIENT = ("fingerprint", "cores", "kernel", "python", "place")
PROMPT_LENGTHS = {
    "ids": "exact: token ids",
    "usage": "by the server's usage of two prompts",
    "tokenizer": "by a tokenizer, without the chat template",
    "assumed": None,
}
DECLARABLE = {"software": SOFTWARE, "hardware": HARDWARE, "price": PRICE, "client": CLIENT}


@dataclass(frozen=True, slots=True)
class Questions:
    """The six groups of facts, as `Curve` holds them."""

    scenario: Facts
    constraint: Facts
    software: Facts
    hardware: Facts
    client: Facts
    price: Facts


def four_questions(
    plan: Plan, endpoint: Endpoint, points: Sequence[Point], client: Mapping[str, Any], declared: Declared | None = None
) -> Questions:
    """`client`: what the caller observed of its own host (`CLIENT` keys). A declaration outweighs what the server says."""
    said = declared or {}
    return Questions(
        scenario=scenario(plan, endpoint, points),
        constraint=constraint(plan),
        software=_answers(SOFTWARE, said.get("software", {}), read_software(endpoint), "read"),
        hardware=_answers(HARDWARE, _counted(said.get("hardware", {})), {}, "read"),
        client=_client(endpoint, client, said.get("client", {})),
        price=_answers(PRICE, said.get("price", {}), {}, "read"),
    )


def describe(curve: Curve, declared: Declared, digest: str) -> Curve:
    """The curve with these declarations added; `digest`, that of the file described, joins `previous_digests`."""
    sections: dict[str, Any] = {
        section: {**getattr(curve, section), **_facts(_counted(said) if section == "hardware" else said, "declared")}
        for section, said in declared.items()
        if said
    }
    return msgspec.structs.replace(curve, **sections, previous_digests=(*curve.previous_digests, digest))


def number(facts: Mapping[str, Fact], key: str) -> float | None:
    """A fact that is a finite number from 0; None for whatever else a stranger's file says there."""
    value = facts[key].value if key in facts else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


def pooled_lengths(stats: Iterable[LengthStats]) -> LengthStats:
    """Lengths over all points. The median of a union is not known from its parts, so `p50` is given only where they agree."""
    kept = [one for one in stats if one.n and one.mean is not None]
    count = sum(one.n for one in kept)
    if not count:
        return LengthStats(n=0)
    medians = {one.p50 for one in kept}
    return LengthStats(
        n=count,
        mean=sum(one.n * one.mean for one in kept if one.mean is not None) / count,
        min=min((one.min for one in kept if one.min is not None), default=None),
        p50=medians.pop() if len(medians) == 1 else None,
        max=max((one.max for one in kept if one.max is not None), default=None),
    )


def scenario(plan: Plan, endpoint: Endpoint, points: Sequence[Point]) -> Facts:
    profile = plan.profile
    asked = {
        "profile": profile.name,
        "load_kind": plan.kind,
        "start": plan.start,
        "dialect": endpoint.dialect,
        "text": profile.text,
        "declared_cache_share": profile.prefix_share,
        "isl_asked": msgspec.to_builtins(profile.isl),
        "osl_asked": msgspec.to_builtins(profile.osl),
        "seed": plan.seed,
        "repeats": plan.repeats,
        **({"request_body": profile.body} if profile.body else {}),
    }
    starts = sorted({point.start for point in points})
    cached = [point.cached_share for point in points if point.cached_share is not None]
    realised = {
        "levels": sorted({point.load.level for point in points}) or None,
        "order": [point.id for point in sorted(points, key=lambda point: point.cell)] or None,
        "starts_used": starts or None,
        "isl": _realised(point.isl for point in points),
        "osl": _realised(point.osl for point in points),
        "prompt_lengths": PROMPT_LENGTHS[endpoint.calibration.source],
        "cached_share_max": max(cached, default=None),
        "token_sources": sorted({source for point in points for source, count in point.token_sources.items() if count}) or None,
    }
    return {**_facts(asked, "declared"), **_facts(realised, "measured")}


def constraint(plan: Plan) -> Facts:
    """What the plan allows; null says that there is no such limit."""
    said = {
        "slos": [msgspec.to_builtins(slo) for slo in plan.slos],
        "max_concurrency": plan.max_concurrency,
        "grid": list(plan.grid) if plan.grid is not None else "doubling",
        "duration_s": plan.limits.duration_s,
        "requests": plan.limits.requests,
        "cap_s": plan.limits.cap_s,
        "idle_timeout_s": plan.limits.idle_timeout_s,
    }
    return {key: Fact(value=value, known="declared") for key, value in said.items()}


def read_software(endpoint: Endpoint) -> dict[str, Any]:
    """What the server says of itself."""
    own = {"server": endpoint.server, "version": endpoint.version, "model": endpoint.model}
    return {
        **{key: endpoint.facts.get(key) for key in SOFTWARE},
        **{key: value for key, value in own.items() if value is not None},
    }


def _client(endpoint: Endpoint, client: Mapping[str, Any], declared: Mapping[str, Any]) -> Facts:
    connection = {
        "rtt_s": endpoint.rtt_s,
        "loopback": endpoint.loopback,
        "keep_alive": endpoint.keep_alive,
        "proxied": endpoint.proxy is not None,
        "tls_verified": endpoint.verified_tls,
    }
    return {**_answers(CLIENT, declared, client, "measured"), **_facts(connection, "measured")}


def _answers(
    keys: Sequence[str], declared: Mapping[str, Any], found: Mapping[str, Any], how: Literal["read", "measured"]
) -> Facts:
    """One fact a key: declared if a person said so, else as found, else missing."""
    return {key: _fact(declared[key], "declared") if key in declared else _fact(found.get(key), how) for key in keys}


def _counted(hardware: Mapping[str, Any]) -> dict[str, Any]:
    """The hardware as declared, with the accelerators' count added up where they are listed one by one."""
    listed = hardware.get("accelerators")
    if not isinstance(listed, list) or "accelerator_count" in hardware:
        return dict(hardware)
    return {**hardware, "accelerator_count": sum(one["count"] for one in listed)}


def _realised(stats: Iterable[LengthStats]) -> dict[str, Any] | None:
    pooled = pooled_lengths(stats)
    return msgspec.to_builtins(pooled) if pooled.n else None


def _facts(values: Mapping[str, Any], how: Literal["declared", "read", "measured"]) -> Facts:
    return {key: _fact(value, how) for key, value in values.items()}


def _fact(value: Any, how: Literal["declared", "read", "measured"]) -> Fact:
    return MISSING if value is None else Fact(value=value, known=how)
