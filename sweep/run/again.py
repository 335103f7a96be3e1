"""Suspect loads of a night, measured again at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sweep.model import Curve, History, Profile
from sweep.run import run
from sweep.run.settings import Settings
from sweep.run.watch import Watch

if TYPE_CHECKING:
    from sweep.curve.nightly.rules import Rules

CONFIRMATIONS = ".confirmations"  # hidden: what lies here is no night of the history


def again(
    history: History, rules: Rules, endpoint: str, folder: Path, watch: Watch, *, restarted: bool, headers: tuple[str, ...] = ()
) -> History:
    """The history after its suspect loads, and no others, were measured again."""
    from sweep.curve.regress import remeasured, suspect_loads

    loads = suspect_loads(history)
    if not loads:
        return history
    levels = tuple(load.level for load in loads)
    (curve,) = _measured(history, levels, endpoint, folder / CONFIRMATIONS, watch, headers)
    return remeasured(history, curve, rules, restarted=restarted)


def _measured(
    history: History, levels: tuple[float, ...], endpoint: str, out: Path, watch: Watch, headers: tuple[str, ...]
) -> list[Curve]:
    """These levels of the latest night's plan, with a seed of their own."""
    night = history.nights[-1]
    plan, given = night.plan, ",".join(f"{level:g}" for level in sorted(levels))
    settings = Settings(
        endpoint=endpoint,
        profiles=(_profile_file(night.profile, out),),
        model=night.model,
        body=json.dumps(night.profile.body) if night.profile.body else None,
        grid=given if plan.kind == "closed" else None,
        rate=None if plan.kind == "closed" else given,
        kind=plan.kind,
        duration_s=plan.limits.duration_s,
        requests=plan.limits.requests,
        start=plan.start,
        repeats=plan.repeats,
        cap_s=plan.limits.cap_s,
        idle_timeout_s=plan.limits.idle_timeout_s,
        seed=plan.seed + 1,
        headers=headers,
        out=out,
    )
    return run(settings, watch)


def _profile_file(profile: Profile, out: Path) -> str:
    """The night's own profile as a file: the packaged one of that name may have changed since."""
    values = {key: value for key, value in msgspec.to_builtins(profile).items() if value is not None and key != "body"}
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{profile.name}.toml"
    path.write_text("\n".join(f"{key} = {_toml(value)}" for key, value in values.items()) + "\n", encoding="utf-8")
    return str(path)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items() if part is not None) + " }"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers, booleans and lists are written alike
