"""Prompts of an exact number of words, different from the first word on in every request of every run.

A kind's material is built once per process, always the same; a prompt is a nonce word and a slice of it, so its cost is that
of copying a string. The nonce is twelve digits: for the tokenizers in use, which split digits singly or in threes, always the
same number of tokens, and different at once, so that no server finds two prompts' first block of tokens in its prefix cache.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import cycle
from keyword import iskeyword

from sweep.errors import UsageError
from sweep.prompt import words as table

_CORPUS_WORDS = 1 << 15
_OFFERED_WORDS = 1 << 20
PASSAGE_WORDS = 1 << 16  # as many as an endpoint is asked to turn into ids at once
NONCES = 10**12
_STRIDE = 618_033_988_749  # coprime to NONCES: distinct for every request, far apart for neighbours (golden ratio)


@dataclass(frozen=True, slots=True)
class Corpus:
    text: str
    starts: list[int]  # of each word in `text`
    ends: list[int]
    entries: list[int]  # words a prompt may begin with: the first of a sentence or function
    gap: str  # between the nonce and the body, and where the material begins anew


def compose(kind: str, words: int, seed: int, request: int, nonce: str, shared: int = 0) -> str:
    """A prompt of exactly `words` >= 1 words of `prose`, `code` or `random`, the nonce word first.

    A function of its arguments alone. `nonce` tells one run from another, `request` one prompt of a run from every other.
    With `shared` < `words` the prompt begins with so many words that all prompts of the seed have in common, the nonce after
    them: for those who want the endpoint's prefix cache in play. Raises UsageError for an unknown kind.
    """
    corpus = _corpus(kind)
    if shared:
        common = _slice(corpus, corpus.entries[number(f"shared/{seed}") % len(corpus.entries)], shared)
        return f"{common}{corpus.gap}{compose(kind, words - shared, seed, request, nonce)}"
    first = f"{nonce_number(nonce, request):012d}"
    if words <= 1:
        return first
    entry = corpus.entries[number(f"{nonce}/{seed}/{request}") % len(corpus.entries)]
    return f"{first}{corpus.gap}{_slice(corpus, entry, words - 1)}"


def _slice(corpus: Corpus, begin: int, count: int) -> str:
    """`count` words from word `begin` on, beginning anew where the material ends."""
    parts: list[str] = []
    while count > 0:
        end = min(begin + count, len(corpus.starts))
        parts.append(corpus.text[corpus.starts[begin] : corpus.ends[end - 1]])
        count -= end - begin
        begin = 0
    return corpus.gap.join(parts)


def passage(kind: str) -> str:
    """The material that prompts of a kind are cut from; where it is more, `PASSAGE_WORDS` of it in pieces from all over it."""
    corpus = _corpus(kind)
    words = len(corpus.starts)
    if words <= PASSAGE_WORDS:
        return corpus.text
    spans = list(zip(corpus.entries, [*corpus.entries[1:], words], strict=True))
    parts: list[str] = []
    left = PASSAGE_WORDS
    for begin, end in spans[:: -(-words // PASSAGE_WORDS)]:
        end = min(end, begin + left)
        parts.append(corpus.text[corpus.starts[begin] : corpus.ends[end - 1]])
        left -= end - begin
        if left == 0:
            break
    return corpus.gap.join(parts)


def nonce_number(nonce: str, request: int) -> int:
    """Below `NONCES`: different for every request of a run."""
    return (number(nonce) + request * _STRIDE) % NONCES


def number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


@cache
def _corpus(kind: str) -> Corpus:
    if kind in _offered:
        return _offered[kind]
    if kind not in _MAKERS:
        raise UsageError(f"unknown text kind {kind!r}", f"known: {', '.join(KINDS)}")
    make, gap = _MAKERS[kind]
    return _corpus_of(make(random.Random(kind)), gap, _CORPUS_WORDS)


def offer(kind: str, pieces: Sequence[str]) -> None:
    """Makes a kind of `pieces` of text, not empty, known in this process."""
    _offered[kind] = _corpus_of(iter(pieces), "\n\n", _OFFERED_WORDS)


def _corpus_of(source: Iterator[str], gap: str, enough: int) -> Corpus:
    """Of as many pieces as bring `enough` words."""
    pieces: list[str] = []
    entries: list[int] = []
    total = 0
    for piece in source:
        pieces.append(piece)
        entries.append(total)
        total += len(piece.split())
        if total >= enough:
            break
    text = gap.join(pieces)
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    return Corpus(text, [start for start, _ in spans], [end for _, end in spans], entries, gap)


def _prose(source: random.Random) -> Iterator[str]:
    """Sentences of much the same length, so that punctuation is spread evenly."""
    slots = {"D": table.DETERMINERS, "A": table.ADJECTIVES, "N": table.NOUNS, "V": table.VERBS, "P": table.PREPOSITIONS}
    slots |= {"R": table.ADVERBS, "J": table.JOINS}
    shapes = ("DANVDNPDN JDNV", "DNRVDANPDAN", "PDANDNVDAN", "DNVJDANRVDN", "RDNVDANPDN", "DANPDNVDANPDN")
    while True:
        shape = source.choice(shapes).replace(" ", "")
        yield " ".join(source.choice(slots[letter]) for letter in shape).capitalize() + "."


def _random(source: random.Random) -> Iterator[str]:
    """Words in no order, for those who want text that no model can foresee."""
    while True:
        yield " ".join(source.choices(table.EVERY, k=16))


def _code(source: random.Random) -> Iterator[str]:
    """Functions in turn, of spaced lines, so that every stretch of the material has much the same tokens per word."""
    names = [noun for noun in table.NOUNS if not iskeyword(noun)]
    for shape in cycle(_FUNCTIONS):
        a, b, c, d = source.sample(names, 4)
        n, m = source.randrange(2, 10), source.randrange(10, 100)
        yield shape.format(verb=source.choice(table.VERBS), a=a, b=b, c=c, d=d, n=n, m=m)


_FUNCTIONS = (
    """\
def {verb}_{a}({b}, {c}):
    {d} = {n} * {c} + {b}
    while {d} > {m} and {b} < {n}:
        {b} = {b} + {c} // {n}
        {d} = {d} - {b} % {m}
    if {d} == {n} or {c} != {m}:
        return {d} + {b} - {n}
    return {d} * {c} + {m}
""",
    """\
def {verb}_{a}({b}, {c}):
    {d} = {b} - {m} if {b} > {c} else {n}
    for {a} in {b} , {c} , {d} , {n}:
        if {a} % {n} == {m} - {c}:
            {d} = {d} + {a} * {n}
    assert {d} >= {n} or {b} != {m}
    return {d} - {c} // {m}
""",
    """\
def {verb}_{a}({b}, {c}):
    {a} = [ {b} + {d} for {d} in {c} if {d} < {m} ]
    {d} = {n} if not {a} else {a} [ {n} ]
    while {d} != {m} and {a} is not {b}:
        {d} = {d} + {m} - {n}
    return {d} if {c} else {a}
""",
)

_MAKERS: dict[str, tuple[Callable[[random.Random], Iterator[str]], str]] = {
    "prose": (_prose, " "),
    "code": (_code, "\n"),
    "random": (_random, " "),
}
KINDS = tuple(_MAKERS)
_offered: dict[str, Corpus] = {}
