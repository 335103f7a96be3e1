"""The curve file, NAME.curve.json: deterministic, self-contained, signed by a digest of its own content.

History of the format:
    sweep.curve/1   the first; fields foreseen then are present and null

A reader takes every older version (upgraded on reading) and refuses newer ones. Fields are added, never re-meant.

Floats are kept to 9 significant digits. The digest is the SHA-256 of the file's own text without its `digest` member and without
white space between tokens: keys are sorted already, and numbers stay as they are spelled, so any language can recompute it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sweep.curve.files import write_atomically
from sweep.curve.stored import rows_and_bytes
from sweep.errors import ArtifactError
from sweep.model import SCHEMA, Curve, Point

FAMILY, VERSION = SCHEMA.split("/")[0], int(SCHEMA.split("/")[1])
SCHEMA_FILE = Path(__file__).with_name("curve.schema.json")
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # a document of version n -> one of n + 1
DIGITS = 9
LINE_WIDTH = 120
SUFFIX = ".curve.json"
FILE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")  # no path, no markup

# What an honest file never reaches; the first four are checked before anything is parsed.
MAX_BYTES = 32 << 20
MAX_CONTAINERS = 200_000
MAX_VALUES = 1_000_000
MAX_DEPTH = 32
MAX_POINTS = 1_000
MAX_ROWS = 1 << 22  # of all joint tables
MAX_UNPACKED = 32 << 20  # bytes of all histograms


def to_json(curve: Curve) -> bytes:
    """The file's bytes: the same curve gives the same bytes. Raises ValueError where a number is not finite."""
    document = _document(curve)
    document["digest"] = digest_of(document)
    return (_laid_out(document, 0) + "\n").encode()


def digest(curve: Curve) -> str:
    """`sha256:` and 64 hex digits over everything but the digest itself."""
    return digest_of(_document(curve))


def save(curve: Curve, folder: Path) -> Path:
    """Writes NAME.curve.json into an existing folder, atomically. Raises OutputError."""
    path = folder / f"{curve.name}{SUFFIX}"
    write_atomically(path, to_json(curve))
    return path


def load(path: str | Path) -> Curve:
    """Reads and verifies a curve file. Raises ArtifactError, in bounded time and memory, for one that does not hold."""
    where = Path(path)
    return loads(read(where), str(where))


def read(path: Path) -> bytes:
    """A file's bytes, of one that is too big no more than shows it. Raises ArtifactError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ArtifactError(f"{path}: {error.strerror or error}", "name a file that ends in .curve.json") from error


def loads(raw: bytes, name: str = "-") -> Curve:
    """`load` for bytes that are already here; `name` begins the error."""
    _refuse_hostile(raw, name)
    document = _parsed(raw, name)
    version = _version(document, name)
    if document.get("digest") != digest_of(document):
        raise ArtifactError(
            f"{name}: the digest does not match the content", "it was changed after it was written; get the original"
        )
    for old in range(version, VERSION):
        document = UPGRADES[old](document)
    try:
        curve = msgspec.convert(document, Curve)
    except msgspec.ValidationError as error:
        raise ArtifactError(f"{name}: {error}", "this is not a complete curve file; get the original") from error
    if len(curve.points) > MAX_POINTS:
        raise ArtifactError(f"{name}: {len(curve.points)} points, more than any sweep measures", "get the original")
    rows, unpacked = rows_and_bytes(curve.points)
    if rows > MAX_ROWS or unpacked > MAX_UNPACKED:
        raise ArtifactError(f"{name}: its tables unpack to more than any sweep measures", "get the original")
    if not FILE_NAME.fullmatch(curve.name):
        raise ArtifactError(f"{name}: $.name is not a file name", "a name has letters, digits and . _ - only")
    return curve


def schema_text(title: str = SCHEMA, noun: type[Any] = Curve) -> str:
    """The JSON Schema of the documents that hold `noun`, as it is published: `curve.schema.json` beside this module."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **msgspec.json.schema(noun)}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def digest_of(document: dict[str, Any]) -> str:
    content = {key: value for key, value in document.items() if key != "digest"}
    return "sha256:" + hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def plain(noun: Any) -> Any:
    """A noun, or several, as the JSON values that a file holds. Raises ValueError where a number is not finite."""
    return _rounded(msgspec.to_builtins(noun), "$")


def as_stored(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points as a file gives them back, so that what is computed from them is what a reader computes."""
    return msgspec.convert(plain(points), tuple[Point, ...])


def _document(curve: Curve) -> dict[str, Any]:
    """An int where a float is declared becomes one, so that files do not depend on it."""
    document: dict[str, Any] = plain(msgspec.convert(msgspec.to_builtins(curve), Curve))
    return document


def _rounded(value: Any, path: str) -> Any:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{path} is {value}; missing is null")
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner, f"{path}.{key}") for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner, f"{path}[{place}]") for place, inner in enumerate(value)]
    return value


def _laid_out(value: Any, indent: int) -> str:
    """JSON with sorted keys, one line for what fits on one, so that a diff shows what changed and little else."""
    flat = msgspec.json.encode(value, order="sorted").decode()
    if len(flat) + indent <= LINE_WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner, outer = " " * (indent + 1), " " * indent
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _laid_out(item, indent + 1) for item in value) + f"\n{outer}]"
    members = (f"{inner}{msgspec.json.encode(key).decode()}: {_laid_out(value[key], indent + 1)}" for key in sorted(value))
    return "{\n" + ",\n".join(members) + f"\n{outer}}}"


def _refuse_hostile(raw: bytes, name: str) -> None:
    too_big = len(raw) > MAX_BYTES or raw.count(b"[") + raw.count(b"{") > MAX_CONTAINERS or raw.count(b",") > MAX_VALUES
    if too_big:
        raise ArtifactError(f"{name}: too big for a curve file", "a sweep writes under 1 MB; get the original")
    strings_and_scalars = rb'"(?:[^"\\]++|\\.)*+"|[^\[\]{}"]++'
    depth = deepest = 0
    for bracket in re.sub(strings_and_scalars, b"", raw, flags=re.DOTALL):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise ArtifactError(f"{name}: nested {deepest} deep, more than a curve file is", "this is not a curve file")


def _parsed(raw: bytes, name: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        if raw.lstrip().startswith(b"{") and re.search(rb"[:\[,]\s*-?(NaN|Infinity)\b", raw):
            raise ArtifactError(
                f"{name}: holds NaN or Infinity, which JSON has not", "missing values are null in a curve file"
            ) from None
        raise ArtifactError(f"{name}: {error}", "this is not a curve file, or it was cut short") from error
    if not isinstance(document, dict):
        raise ArtifactError(f"{name}: not a curve file", "name a file that ends in .curve.json")
    return document


def _version(document: dict[str, Any], name: str) -> int:
    found = re.fullmatch(re.escape(FAMILY) + r"/([1-9]\d{0,5})", str(document.get("schema")))
    if found is None:
        raise ArtifactError(f"{name}: not a curve file (no schema {FAMILY}/N)", "name a file that sweep wrote")
    version = int(found[1])
    if version > VERSION:
        raise ArtifactError(
            f"{name}: written by a newer sweep (schema {FAMILY}/{version})", "pip install --upgrade pareto-sweep"
        )
    return version


if __name__ == "__main__":
    print(schema_text(), end="")
