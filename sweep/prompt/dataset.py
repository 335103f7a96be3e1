"""A user's own file in place of what is built in: texts (JSON lines, ShareGPT) to cut prompts from, or lengths (CSV).

Texts are material like the built-in kinds: prompts are cut from them to the lengths the profile asks for, the nonce before
them. The kind's name carries a digest of the file, so that curves from different files are never taken for comparable. Lengths
become log-normal ones with the file's mean, deviation and range.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import msgspec

from sweep.errors import UsageError
from sweep.model import Length
from sweep.prompt import text

TEXT_KEYS = ("prompt", "text", "question", "instruction", "input", "content", "value")
ISL_KEYS = ("isl", "input_tokens", "input_length", "prompt_tokens", "contexttokens", "request tokens")
OSL_KEYS = ("osl", "output_tokens", "output_length", "completion_tokens", "generatedtokens", "response tokens")
MAX_BYTES = 256 << 20
FORMS = "JSON lines with a prompt each, ShareGPT JSON, or CSV with columns isl and osl"


@dataclass(frozen=True, slots=True)
class Dataset:
    """`kind` of text, or the lengths of input and output; the others are None."""

    kind: str | None = None
    isl: Length | None = None
    osl: Length | None = None


@cache
def offer(path: str) -> Dataset:
    """What the file at `path` holds; its texts can be composed from then on, in this process. UsageError when it is unusable."""
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise UsageError(f"--dataset {path}: larger than {MAX_BYTES >> 20} MiB", "a part of it will do")
        data = Path(path).read_bytes()
        content = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--dataset {path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}", FORMS) from None
    if path.lower().endswith(".csv"):
        isl, osl = lengths(content, path)
        return Dataset(isl=length(isl), osl=length(osl))
    pieces = list(texts(content))
    if not pieces:
        raise UsageError(f"--dataset {path}: no prompt in it", FORMS)
    kind = f"dataset:{Path(path).stem[:40]}:{hashlib.sha256(data).hexdigest()[:12]}"
    text.offer(kind, pieces)
    return Dataset(kind=kind)


def texts(content: str) -> Iterator[str]:
    """The prompts of a JSON document or of JSON lines, in order; what is none is passed over."""
    try:
        entries = msgspec.json.decode(content)
        if isinstance(entries, dict):
            entries = entries.get("data", [entries])
    except msgspec.DecodeError:
        entries = [_entry(line) for line in content.splitlines()]
    for entry in entries if isinstance(entries, list) else []:
        found = _prompt(entry)
        if found.strip():
            yield found.strip()


def _entry(line: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None


def _prompt(entry: Any) -> str:
    """What a user said first in an entry of any usual shape."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, list):
        said = [
            each
            for each in entry
            if not isinstance(each, dict) or each.get("from", each.get("role")) in ("human", "user", None)
        ]
        return _prompt(said[0]) if said else ""
    if not isinstance(entry, dict):
        return ""
    for key in ("conversations", "messages", *TEXT_KEYS):
        if entry.get(key):
            return _prompt(entry[key])
    return ""


def lengths(content: str, path: str) -> tuple[list[int], list[int]]:
    """The columns of input and output tokens. UsageError where there are none, or a length is no count above zero."""
    rows = csv.reader(io.StringIO(content))
    head = [name.strip().lower() for name in next(rows, [])]
    places = [next((head.index(key) for key in keys if key in head), None) for keys in (ISL_KEYS, OSL_KEYS)]
    if None in places:
        raise UsageError(f"--dataset {path}: no columns of input and output tokens", "name them isl and osl in the first line")
    found: tuple[list[int], list[int]] = [], []
    for number, row in enumerate(rows, 2):
        for column, place in zip(found, places, strict=True):
            said = row[place].strip() if place is not None and place < len(row) else ""
            if row and not (said.isascii() and said.isdecimal() and 0 < int(said) < 1 << 30):
                raise UsageError(f"--dataset {path}: line {number}: {said!r} is no length", "give whole tokens above zero")
            if row:
                column.append(int(said))
    if not found[0]:
        raise UsageError(f"--dataset {path}: no lengths in it", FORMS)
    return found


def length(tokens: Sequence[int]) -> Length:
    mean, sd = round(fmean(tokens)), round(pstdev(tokens))
    if not sd or min(tokens) == max(tokens):
        return Length(mean=mean)
    return Length(mean=mean, sd=sd, min=min(tokens), max=max(tokens))
