"""Whether two curves are about the same work: what must match before their numbers may be put together."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from sweep.curve.setup import pooled_lengths
from sweep.model import Curve

LENGTH_TOLERANCE = 0.05
OBSERVED_TOKENS = {"usage", "continuous_usage", "token_ids", "tokenize", "tokenizer"}


def differences(a: Curve, b: Curve) -> dict[str, tuple[Any, Any]]:
    """What keeps these curves from being the same workload: key -> (a's, b's). Empty when nothing does."""
    ours, theirs = must_match(a), must_match(b)
    found = {key: (ours.get(key), theirs.get(key)) for key in ours | theirs if ours.get(key) != theirs.get(key)}
    return found | _length_differences(a, b)


def must_match(curve: Curve) -> dict[str, Any]:
    """The keys that must be equal. Lengths are the nominal ones; what was realised is judged by `differences`."""
    profile = curve.profile
    return {
        "isl": msgspec.to_builtins(profile.isl),
        "osl": msgspec.to_builtins(profile.osl),
        "pairs": profile.rows and hashlib.sha256(profile.rows.encode()).hexdigest()[:12],
        "unit": curve.endpoint.unit,
        "text": profile.text,
        "images": msgspec.to_builtins(profile.images),
        "declared_cache_share": profile.prefix_share,
        "load_kind": curve.plan.kind,
        "start": sorted({point.start for point in curve.points}) or [curve.plan.start],
        "token_accounting": token_accounting(curve),
    } | ({"request_body": profile.body} if profile.body else {})


def token_accounting(curve: Curve) -> str:
    """`counted` by the server or a tokenizer, `chunks` guessed from the stream, or a mixture."""
    sources = {source for point in curve.points for source, count in point.token_sources.items() if count}
    if not sources:
        return "unknown"
    return "counted" if sources <= OBSERVED_TOKENS else "mixed" if sources & OBSERVED_TOKENS else "+".join(sorted(sources))


def says(key: str) -> str:
    """What a difference means."""
    if key.startswith("realised_"):
        return f"mean {'prompt' if 'isl' in key else 'answer'} lengths differ by more than {LENGTH_TOLERANCE:.0%}"
    return {
        "isl": "prompts of different lengths were asked for",
        "osl": "answers of different lengths were asked for",
        "pairs": "lengths were drawn from different files",
        "text": "the prompts' kind of text differs",
        "request_body": "requests carried different fields of the user's own",
        "declared_cache_share": "different shares of the prompts may come from a cache",
        "load_kind": "load arrived in different ways",
        "start": "cells were started in different ways",
        "token_accounting": "tokens were counted in different ways",
    }.get(key, f"{key.replace('_', ' ')} differs")


def shown(value: object) -> str:
    """One side's answer on one line, whatever a stranger's file says: a length without what it leaves open."""
    if isinstance(value, dict):
        value = ", ".join(f"{key} {shown(inner)}" for key, inner in value.items() if inner is not None)
    elif isinstance(value, list | tuple):
        value = ", ".join(map(shown, value))
    text = f"{value:.6g}" if isinstance(value, float) else "nothing" if value is None else str(value)
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:200])


def _length_differences(a: Curve, b: Curve) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    for key, attribute in (("realised_isl_mean", "isl"), ("realised_osl_mean", "osl")):
        ours = pooled_lengths(getattr(point, attribute) for point in a.points).mean
        theirs = pooled_lengths(getattr(point, attribute) for point in b.points).mean
        if ours is not None and theirs is not None and abs(ours - theirs) > LENGTH_TOLERANCE * max(ours, theirs):
            found[key] = (ours, theirs)
    return found
