"""What people type, as numbers, names and curves."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sweep.errors import UsageError

if TYPE_CHECKING:
    from sweep.curve.cost import Price
    from sweep.model import Curve

Key = TypeVar("Key")
Value = TypeVar("Value")
Reader = Callable[[str, str], Any]  # (text, flag) -> what the command is given; raises UsageError
SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
THOUSANDS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
SHORTEST_S, LONGEST_S = 1e-3, 30 * 86_400.0
_HELP = "--help says what it means"
MOST_ACCELERATORS = 1_000_000
MOST = 2**53  # from there on JSON readers round


def whole(least: int = -MOST, most: int = MOST) -> Reader:
    """Reads a whole number from `least` to `most`."""

    def read(text: str, flag: str) -> int:
        value = int(text) if re.fullmatch(r"\s*[-+]?\d{1,20}\s*", text, re.ASCII) else None
        if value is None or not least <= value <= most:
            raise UsageError(f"{flag}: expected a whole number{_range(least, most)}, got {text!r}", _HELP)
        return value

    return read


def decimal(least: float = -math.inf, most: float = math.inf) -> Reader:
    """Reads a finite number from `least` to `most`."""

    def read(text: str, flag: str) -> float:
        value = _float(text)
        if not math.isfinite(value) or not least <= value <= most:
            raise UsageError(f"{flag}: expected a number{_range(least, most)}, got {text!r}", _HELP)
        return value

    return read


def one_of(*names: str) -> Reader:
    """Reads one of these names."""

    def read(text: str, flag: str) -> str:
        if text not in names:
            raise UsageError(f"{flag}: expected {', '.join(names[:-1])} or {names[-1]}, got {text!r}", _HELP)
        return text

    return read


def auto_or(read: Reader) -> Reader:
    """Reads what `read` does; `auto` is None."""
    return lambda text, flag: None if text.strip().lower() == "auto" else read(text, flag)


def seconds(text: str, flag: str) -> float:
    """`30s`, `5m`, `1h`, `1.5min`. A number without a unit is refused: seconds and minutes are both plausible."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)", text.strip().lower(), re.ASCII)
    value = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not SHORTEST_S <= value <= LONGEST_S:
        raise UsageError(f"{flag}: expected a time from 1ms to 720h, got {text!r}", "write it with its unit: 30s, 5m, 1h")
    return value


def count(text: str, flag: str) -> int:
    """`200000`, `500k`, `5M`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)", text.strip().lower().replace("_", "").replace(",", ""), re.ASCII)
    value = float(found[1]) * THOUSANDS[found[2]] if found else 0.0
    if not 1 <= value <= MOST:
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", "for instance 200000, 500k or 5M")
    return round(value)


def _range(least: float, most: float) -> str:
    if most >= MOST:
        return f" from {least:g}" if least > -MOST else ""
    return f" from {least:g} to {most:g}"


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def name(text: str, flag: str) -> str:
    """The name of a folder and its files: what is no letter, digit, dot or dash becomes a dash, and something must be left."""
    if not re.search(r"[A-Za-z0-9]", text):
        raise UsageError(f"{flag}: expected letters or digits, got {text!r}", "it names a folder and files")
    return text


def belongs(flag: str, given: bool, other: str, there: bool) -> None:
    """Raises UsageError for an option that says nothing without another one."""
    if given and not there:
        raise UsageError(f"{flag} says nothing without {other}", f"add {other}, or leave {flag} out")


def curve(text: str) -> Curve:
    """The curve of a file, of the only one in a folder, or of standard input (`-`)."""
    from sweep.curve import artifact

    return artifact.loads(sys.stdin.buffer.read(artifact.MAX_BYTES + 1)) if text == "-" else artifact.load(curve_file(text))


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


def number(text: str, flag: str) -> float:
    """Finite and above zero."""
    value = _float(text)
    if not 0 < value < math.inf:
        raise UsageError(f"{flag}: expected a number above zero, got {text!r}", _HELP)
    return value


def places(text: str | None, flag: str) -> tuple[float, ...]:
    """`20,50,100`."""
    return () if text is None else tuple(number(part.strip(), flag) for part in text.split(","))


def weights(text: str | None, flag: str) -> dict[float | str, float]:
    """`20=3,50=1`; what is no number is an SLO, which may hold commas and `=` of its own: `ttft<=1s,e2e<=9s=3,20=1`."""
    if text is None:
        return {}
    pairs = re.findall(r"(.+?)=(\d+(?:\.\d+)?)(?:,|$)", text)
    if ",".join(f"{what}={weight}" for what, weight in pairs) != text.rstrip(","):
        raise UsageError(f"{flag} {text}: expected WHERE=WEIGHT, joined by commas", f"for instance {flag} 20=3,50=1")
    return _once(((_place_or_slo(what.strip()), number(weight, flag)) for what, weight in pairs), flag)


def _place_or_slo(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if 0 < value < float("inf") else text


def accelerators(texts: Iterable[str], flag: str) -> dict[str, int]:
    """`A=8`, one a curve."""
    return _once((_count(text, flag) for text in texts), flag)


def _count(text: str, flag: str) -> tuple[str, int]:
    label, equals, count = (part.strip() for part in text.partition("="))
    if not label or not equals:
        raise UsageError(f"{flag} {text}: expected LABEL=COUNT", "A=8 counts the accelerators behind the first curve")
    return label, _whole(number(count, flag), flag)


def prices(texts: Iterable[str], flag: str) -> dict[str, Price]:
    """`A=2.5`, `A=0.60/M`, one a curve."""
    from sweep.curve import cost

    return _once(map(cost.parse, texts), flag)


def powers(texts: Iterable[str], flag: str) -> dict[str, float]:
    """`A=700`, `A=1.4kW`, one a curve."""
    from sweep.curve import power

    return _once(map(power.parse, texts), flag)


def _whole(value: float, flag: str) -> int:
    if value != int(value) or value > MOST_ACCELERATORS:
        raise UsageError(
            f"{flag}: expected a whole number up to {MOST_ACCELERATORS:,}, got {value:g}", f"for instance {flag} A=8"
        )
    return int(value)


def _once(pairs: Iterable[tuple[Key, Value]], flag: str) -> dict[Key, Value]:
    """By key. Raises UsageError for one that is given twice."""
    found: dict[Key, Value] = {}
    for key, value in pairs:
        if key in found:
            raise UsageError(f"{flag}: {key} is given twice", "give each once")
        found[key] = value
    return found


def axis_pair(text: str, flag: str) -> str:
    """`ttft` or `total/ttft` as a pair of axes."""
    from sweep.curve.frontier import axis_named

    try:
        return axis_named(text)
    except KeyError as error:
        raise UsageError(f"{flag}: {error.args[0]}", f"for instance {flag} interactivity") from None
