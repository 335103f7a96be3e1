"""What the nightly commands share: writing a judgement out, and measuring suspect loads again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.errors import OutputError
from sweep.model import Curve, History

if TYPE_CHECKING:
    from sweep.curve.nightly.replay import Rules

CONFIRMATIONS = ".confirmations"  # hidden: what lies here is no night of the history


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a judgement goes beside the terminal; None: nowhere."""

    json: bool = False
    pages: Path | None = None
    junit: Path | None = None
    summary: Path | None = None
    bencher: Path | None = None
    prometheus: Path | None = None


def publish(histories: Sequence[History], outputs: Outputs, *, strict: bool = False) -> None:
    """Everything asked for. Raises OutputError, when the judgement has been shown."""
    from sweep.convert.bencher import bencher
    from sweep.convert.junit import junit
    from sweep.convert.markdown import markdown
    from sweep.convert.prometheus import prometheus

    _say(histories, json=outputs.json)
    if outputs.junit:
        _write(outputs.junit, junit(histories, strict=strict))
    if outputs.summary:
        _write(outputs.summary, markdown(histories), append=True)
    if outputs.bencher:
        _write(outputs.bencher, bencher(histories))
    if outputs.prometheus:
        _write(outputs.prometheus, prometheus(histories))
    if outputs.pages:
        from sweep.report import nightly_page

        try:
            outputs.pages.mkdir(parents=True, exist_ok=True)
            written = nightly_page.save(histories, outputs.pages)
        except OSError as error:
            raise OutputError(
                f"{outputs.pages}: {error.strerror or error}", "choose a folder with --out, or --no-page"
            ) from error
        print(f"page: {written['index']}", file=sys.stderr)


def tonight(curves: Sequence[Curve], folder: Path, outputs: Outputs) -> int:
    """Adds tonight's curves to the history in `folder` and judges it. The exit code is that of `sweep regress`."""
    from sweep.curve import regress

    histories = [regress.gate(folder, curve) for curve in curves]
    publish(histories, outputs)
    return regress.exit_code(histories)


def again(history: History, rules: Rules, endpoint: str, folder: Path, *, restarted: bool, headers: tuple[str, ...]) -> History:
    """The history after its suspect loads, and no others, were measured again."""
    from sweep.curve.regress import remeasured, suspect_loads

    loads = suspect_loads(history)
    if not loads:
        return history
    curve = _measure(history, tuple(load.level for load in loads), endpoint, folder / CONFIRMATIONS, headers)
    return remeasured(history, curve, rules, restarted=restarted)


def _measure(history: History, levels: tuple[float, ...], endpoint: str, out: Path, headers: tuple[str, ...]) -> Curve:
    """These levels of the latest night's plan, with a seed of their own."""
    from rich.console import Console

    from sweep.report.progress import Watcher
    from sweep.run import Settings
    from sweep.run import run as measure

    night = history.nights[-1]
    plan, given = night.plan, ",".join(f"{level:g}" for level in sorted(levels))
    settings = Settings(
        endpoint=endpoint,
        profiles=(_profile_file(history, out),),
        model=night.model,
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
    with Watcher(Console(stderr=True, highlight=False), lambda *_: True, lambda *_: None) as watch:
        return measure(settings, watch)[0]


def _profile_file(history: History, out: Path) -> str:
    """The night's own profile as a file: the packaged one of that name may have changed since."""
    import msgspec

    profile = history.nights[-1].profile
    values = {key: value for key, value in msgspec.to_builtins(profile).items() if value is not None}
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{profile.name}.toml"
    path.write_text("\n".join(f"{key} = {_toml(value)}" for key, value in values.items()) + "\n", encoding="utf-8")
    return str(path)


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items() if part is not None) + " }"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers, booleans and lists are written alike


def _say(histories: Sequence[History], *, json: bool) -> None:
    if json:
        sys.stdout.buffer.write(document(histories))
        return
    from rich.console import Console

    from sweep.report import nightly_text

    nightly_text.show(Console(highlight=False), histories)


def document(histories: Sequence[History]) -> bytes:
    """The judgement as JSON: all that was decided about every night; the nights' own figures stay in their curve files."""
    import msgspec

    made = []
    for history in histories:
        plain = msgspec.to_builtins(history)
        nights = [{"name": night.name, "file": night.file, "at": night.at, "digest": night.digest} for night in history.nights]
        for night, judged in zip(nights, plain.pop("judged"), strict=True):
            night.update(judged)
        made.append({"verdict": history.verdict, **plain, "nights": nights})
    return msgspec.json.format(msgspec.json.encode({"histories": made}, order="sorted"), indent=1) + b"\n"


def _write(path: Path, text: str, *, append: bool = False) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}", "name a file that can be written") from error
