"""What people type, as numbers and paths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sweep.errors import UsageError

if TYPE_CHECKING:
    from sweep.curve.cost import Price
    from sweep.curve.interpolate import Rule
    from sweep.model import Effort

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def duration_s(text: str | None, flag: str) -> float | None:
    """`30s`, `5m`, `1h`, `1.5min`; None stays None."""
    return None if text is None else seconds(text, flag)


def seconds(text: str, flag: str) -> float:
    """A number without a unit is refused: seconds and minutes are both plausible."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)", text.strip().lower())
    if not found or float(found[1]) == 0:
        raise UsageError(f"{flag}: expected a time above zero, got {text!r}", "write it with its unit: 30s, 5m, 1h")
    return float(found[1]) * SECONDS[found[2]]


def count(text: str | None, flag: str) -> int | None:
    """`200000`, `500k`, `5M`."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)", text.strip().lower().replace("_", "").replace(",", ""))
    if not found or float(found[1]) == 0:
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", "for instance 200000, 500k or 5M")
    return round(float(found[1]) * THOUSANDS[found[2]])


def worker_count(text: str) -> int | None:
    """A number of client processes; `auto` is None."""
    if text.strip().lower() == "auto":
        return None
    if not text.strip().isdecimal() or not 1 <= int(text) <= 1024:
        raise UsageError(f"--workers: expected a number from 1, got {text!r}", "for instance 2, or auto")
    return int(text)


def curve_file(text: str) -> Path:
    """A curve file, or the only one in a folder."""
    path = Path(text)
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.curve.json"))
    if len(found) != 1:
        what = "no curve file" if not found else f"{len(found)} curve files"
        raise UsageError(f"{path}: {what} in this folder", "name the NAME.curve.json itself")
    return found[0]


def new_curve_file(path: Path) -> Path:
    """The path of a curve file that does not exist yet, in a folder that does."""
    from sweep.curve.artifact import FILE_NAME

    name = path.name.removesuffix(".curve.json")
    if path.is_dir() or name == path.name or not FILE_NAME.fullmatch(name):
        raise UsageError(f"--out {path}: not the name of a curve file", "for instance --out all.curve.json")
    if path.exists():
        raise UsageError(f"--out {path}: exists already", "choose another name, or move it away")
    return path


def require_endpoint(text: str | None) -> str:
    if not text:
        raise UsageError("which endpoint?", "give --endpoint URL, or --endpoint sim for the embedded one")
    return text


def arrival_kind(text: str) -> Literal["poisson", "constant"]:
    kinds: dict[str, Literal["poisson", "constant"]] = {"poisson": "poisson", "constant": "constant"}
    if text not in kinds:
        raise UsageError(f"--arrivals: expected poisson or constant, got {text!r}", "poisson is what independent users do")
    return kinds[text]


def diligence(text: str) -> Effort:
    efforts: dict[str, Effort] = {"quick": "quick", "standard": "standard", "rigorous": "rigorous"}
    if text not in efforts:
        raise UsageError(f"--effort: expected quick, standard or rigorous, got {text!r}", "standard is enough for most")
    return efforts[text]


def number(text: str, flag: str) -> float:
    """Finite and above zero."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", f"see `sweep compare --help` for {flag}")
    return value


def places(text: str | None, flag: str) -> tuple[float, ...]:
    """`20,50,100`."""
    return () if text is None else tuple(number(part.strip(), flag) for part in text.split(","))


def weighted(text: str | None, flag: str) -> dict[float, float]:
    """`20=3,50=1`."""
    if text is None:
        return {}
    pairs = [part.partition("=") for part in text.split(",")]
    return {number(x.strip(), flag): number(weight.strip(), flag) for x, _, weight in pairs}


def accelerator_counts(texts: Iterable[str], flag: str) -> dict[str, int]:
    """`A=8`, one a curve."""
    found = {}
    for text in texts:
        label, _, amount = text.partition("=")
        value = number(amount.strip(), flag)
        if value != int(value):
            raise UsageError(f"{flag}: expected a whole number, got {amount!r}", f"for instance {flag} A=8")
        found[label.strip()] = int(value)
    return found


def prices(texts: Iterable[str]) -> dict[str, Price]:
    """`A=2.5`, one a curve."""
    from sweep.curve import cost

    return dict(cost.parse(text) for text in texts)


def axis_pair(text: str) -> str:
    """`ttft` or `total/ttft` as a pair of axes."""
    from sweep.curve.frontier import axis_named

    try:
        return axis_named(text)
    except KeyError as error:
        raise UsageError(f"--axis: {error.args[0]}", "for instance --axis interactivity") from None


def interpolation(text: str) -> Rule:
    from sweep.curve.interpolate import RULES

    for rule in RULES:
        if rule == text:
            return rule
    raise UsageError(f"--interp: expected {', '.join(RULES)}, got {text!r}", "pchip is the default")
