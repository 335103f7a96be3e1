"""What a person declares about the system measured: `--describe FILE.toml` and `--set section.key=value`, checked and merged."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from sweep.curve.setup import DECLARABLE
from sweep.errors import UsageError
from sweep.wording import short

NUMBERS = {
    "accelerator_count",
    "power_w",
    "per_accelerator_hour",
    "per_million_input_tokens",
    "per_million_output_tokens",
}
MAX_TEXT = 1000
MAX_NUMBER = 1e15
MAX_DEPTH = 4


def parse(describe: str | None, settings: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The text of a description and the settings after it, which win. Raises UsageError with the path of what is wrong."""
    declared: dict[str, dict[str, Any]] = {}
    for section, values in _toml(describe or "").items():
        if not isinstance(values, dict):
            raise UsageError(f"$.{section}: expected a table", f"write [{section}] and the facts below it")
        for key, value in values.items():
            declared.setdefault(section, {})[key] = checked(section, key, value)
    for text in settings:
        path, equals, value = text.partition("=")
        section, dot, key = path.strip().partition(".")
        if not (equals and dot):
            raise UsageError(f"--set {text}: expected section.key=value", 'for example --set hardware.accelerators="8×H200"')
        declared.setdefault(section, {})[key] = checked(section, key, _setting(key, value.strip()))
    return declared


def accelerators(text: str) -> list[dict[str, Any]]:
    """`8×H200`, `8x H200`, `H200` or several joined by `+` -> [{"count": 8, "name": "H200"}]."""
    found = []
    for part in text.split("+"):
        match = re.fullmatch(r"\s*(?:(\d{1,6})\s*[×x*]\s*)?(\S.*?)\s*", part)
        if match is None:
            raise UsageError(f"hardware.accelerators: cannot read {text!r}", 'for example "8×H200" or "4×H100 + 4×H200"')
        found.append({"count": int(match[1] or 1), "name": match[2]})
    return found


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"the description is not TOML: {error}", 'for example [hardware] and accelerators = "8×H200"'
        ) from error


def _setting(key: str, text: str) -> Any:
    """Numbers, lists, tables and quoted text are read as TOML; any other text stands for itself (a version `0.12` is no number)."""
    if key not in NUMBERS and not text.startswith(("[", "{", '"', "'")):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def checked(section: str, key: str, value: Any) -> Any:
    """The fact as it is stored. Raises UsageError for one that no system has."""
    if section not in DECLARABLE:
        raise UsageError(f"$.{section}: unknown section", f"known: {', '.join(DECLARABLE)}")
    if key not in DECLARABLE[section]:
        raise UsageError(f"$.{section}.{key}: unknown fact", f"known in {section}: {', '.join(DECLARABLE[section])}")
    path = f"$.{section}.{key}"
    if key in NUMBERS:
        return _count(path, value) if key == "accelerator_count" else _number(path, value)
    if key == "accelerators":
        return accelerators(value) if isinstance(value, str) else _accelerator_list(path, value)
    return _plain(path, value)


def _number(path: str, value: Any) -> float | int:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= MAX_NUMBER:
        raise UsageError(
            f"{path}: expected a number from 0 to {MAX_NUMBER:g}, got {short(repr(value), 40)}", "write it without a unit"
        )
    return value  # type: ignore[no-any-return]


def _count(path: str, value: Any) -> int:
    count = _number(path, value)
    if count < 1 or count != int(count):
        raise UsageError(
            f"{path}: expected a whole number from 1, got {short(repr(value), 40)}", "leave it out where it is not known"
        )
    return int(count)


def _accelerator_list(path: str, value: Any) -> list[dict[str, Any]]:
    good = isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and type(one.get("count")) is int and one["count"] > 0
        for one in value
    )
    if not good:
        raise UsageError(f"{path}: expected a list of {{name, count}}", 'for example [{name = "H200", count = 8}]')
    return [{key: _plain(f"{path}.{key}", inner) for key, inner in one.items()} for one in value]


def _plain(path: str, value: Any, depth: int = 0) -> Any:
    """JSON values only, of a length and depth that a person would write."""
    if depth > MAX_DEPTH:
        raise UsageError(f"{path}: nested more than {MAX_DEPTH} deep", "say it flatter")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(path, inner, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {key: _plain(f"{path}.{key}", inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(path, value)
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise UsageError(f"{path}: longer than {MAX_TEXT} characters", "say it shorter")
    return value
