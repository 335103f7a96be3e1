"""A user's own file in place of what is built in: texts to cut prompts from, pairs of lengths, or both.

Texts are material like the built-in kinds: prompts are cut from them, the nonce before them. The kind's name carries a digest
of the file, so that curves from different files are never taken for comparable. Lengths stay in pairs: a request that draws a
row has the prompt's and the answer's length of that row. They are those that the file tells, or of its texts where something
can count them.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import fmean, pstdev
from typing import Any

import msgspec

from sweep.errors import UsageError
from sweep.model import Length

TEXT_KEYS = ("prompt", "text", "question", "instruction", "input", "content", "value")
ANSWER_KEYS = ("completion", "response", "answer", "output")
ISL_KEYS = ("isl", "input_tokens", "input_length", "prompt_tokens", "contexttokens", "request tokens")
OSL_KEYS = ("osl", "output_tokens", "output_length", "completion_tokens", "generatedtokens", "response tokens")
MAX_WORDS = 1 << 20  # of all texts that are kept
MAX_COUNTED = 10_000  # of its pairs of texts
LONGEST = 1 << 30
FORMS = "JSON lines with a prompt or lengths each, ShareGPT JSON, or CSV with columns isl and osl"

Rows = Sequence[tuple[int, int]]
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Material:
    """Texts to cut prompts from, under the name of their kind."""

    kind: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a file holds: texts, None where it has none, and pairs of ISL and OSL, empty where it has none."""

    material: Material | None
    rows: Rows


def parse(name: str, data: bytes, count: Count | None = None) -> Dataset:
    """What a file of this name and content holds. UsageError, which names it, when it cannot be used.

    `count` tells the tokens of a text.
    """
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"--dataset {name}: not UTF-8 text", FORMS) from None
    if name.lower().endswith(".csv"):
        return Dataset(None, _table(content, name))
    listed = list(entries(content))
    pieces = tuple(_enough(prompts(listed)))
    rows = [pair for entry in listed if (pair := _told(entry)) is not None]
    if not rows and count is not None:
        rows = [pair for entry in listed[:MAX_COUNTED] if (pair := _counted(entry, count)) is not None]
    if not pieces and not rows:
        raise UsageError(f"--dataset {name}: no prompt in it", FORMS)
    kind = f"dataset:{PurePath(name).stem[:40]}:{hashlib.sha256(data).hexdigest()[:12]}"
    return Dataset(Material(kind, pieces) if pieces else None, rows)


def entries(content: str) -> Iterator[Any]:
    """Of a JSON document or of JSON lines, in order; lines that are no JSON are passed over."""
    try:
        found = msgspec.json.decode(content)
    except msgspec.DecodeError:
        for line in content.splitlines():
            try:
                yield msgspec.json.decode(line)
            except msgspec.DecodeError:
                continue
        return
    if isinstance(found, dict):
        found = found.get("data", [found])
    if isinstance(found, list):
        yield from found


def prompts(listed: Iterable[Any]) -> Iterator[str]:
    """What was asked, entry by entry; an entry that asks nothing is passed over."""
    for entry in listed:
        found = _prompt(entry).strip()
        if found:
            yield found


def _prompt(entry: Any) -> str:
    """What a user said first in an entry of any usual shape."""
    return _first(entry, ("human", "user", None), TEXT_KEYS)


def _answer(entry: Any) -> str:
    """What was first answered in an entry of any usual shape that keeps it."""
    if not isinstance(entry, dict):
        return ""
    talk = entry.get("conversations") or entry.get("messages")
    return _first(talk, ("gpt", "assistant", "model"), TEXT_KEYS) if talk else _first(entry, (), ANSWER_KEYS)


def _first(entry: Any, speakers: tuple[str | None, ...], keys: tuple[str, ...]) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, list):
        said = [each for each in entry if not isinstance(each, dict) or each.get("from", each.get("role")) in speakers]
        return _first(said[0], (*speakers, None), keys) if said else ""
    if not isinstance(entry, dict):
        return ""
    for key in ("conversations", "messages", *keys):
        if entry.get(key):
            return _first(entry[key], speakers, keys)
    return ""


def _enough(pieces: Iterable[str]) -> Iterator[str]:
    """So many that `MAX_WORDS` are reached."""
    words = 0
    for piece in pieces:
        yield piece
        words += len(piece.split())
        if words >= MAX_WORDS:
            return


def _counted(entry: Any, count: Count) -> tuple[int, int] | None:
    """(ISL, OSL) of an entry that holds both texts."""
    isl, osl = count(_prompt(entry)), count(_answer(entry))
    return (isl, osl) if _is_length(isl) and _is_length(osl) else None


def _told(entry: Any) -> tuple[int, int] | None:
    """(ISL, OSL) of an entry that tells both, in tokens."""
    if not isinstance(entry, dict):
        return None
    told = {str(key).strip().lower(): value for key, value in entry.items()}
    isl, osl = (next((told[key] for key in keys if key in told), 0) for keys in (ISL_KEYS, OSL_KEYS))
    return (isl, osl) if _is_length(isl) and _is_length(osl) else None


def _is_length(value: Any) -> bool:
    """A whole number above zero; JSON's true is none."""
    return type(value) is int and 0 < value < LONGEST


def _table(content: str, name: str) -> Rows:
    """The columns of input and output tokens. UsageError where there are none, or a length is no count above zero."""
    lines = csv.reader(io.StringIO(content))
    head = [title.strip().lower() for title in next(lines, [])]
    places = [next((head.index(key) for key in keys if key in head), None) for keys in (ISL_KEYS, OSL_KEYS)]
    if None in places:
        raise UsageError(f"--dataset {name}: no columns of input and output tokens", "name them isl and osl in the first line")
    isl, osl = (place for place in places if place is not None)
    rows = [(_length(row, isl, number, name), _length(row, osl, number, name)) for number, row in enumerate(lines, 2) if row]
    if not rows:
        raise UsageError(f"--dataset {name}: no lengths in it", FORMS)
    return rows


def _length(row: Sequence[str], place: int, number: int, name: str) -> int:
    said = row[place].strip() if place < len(row) else ""
    if not (said.isascii() and said.isdecimal() and 0 < int(said[:12]) < LONGEST):
        raise UsageError(f"--dataset {name}: line {number}: {said!r} is no length", "give whole tokens above zero")
    return int(said)


def column(tokens: Sequence[int]) -> Length:
    """What one column of lengths is like."""
    low, high, mean = min(tokens), max(tokens), round(fmean(tokens))
    return Length(mean=mean) if low == high else Length(mean=mean, sd=max(1, round(pstdev(tokens))), min=low, max=high)
