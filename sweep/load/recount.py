"""Answers that the server did not count, counted by a tokenizer once their cell is over.

Their texts are kept until then, and the endpoint is asked only when nothing is under way on it: counting never shares the
time of what is measured. What is not counted by the end keeps the count of its chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import msgspec
import numpy as np

from sweep.load import tokenize
from sweep.load.call import Row
from sweep.load.client import Target, body_of, open_session
from sweep.load.tokenizer import encoder
from sweep.model import Endpoint, TokenSource
from sweep.records import Records

MAX_CHARS = 64 << 20  # of a cell's texts together
WITHIN_S = 20.0  # for all of a cell's questions
ABREAST = 4
MAX_BYTES = 16 << 20  # of an answer that lists a text's tokens

Counts = dict[int, int]  # request -> tokens


def wanted(target: Target, endpoint: Endpoint) -> bool:
    """Whether there is a tokenizer for answers that the server does not count."""
    return target.tokenizer is not None or (endpoint.usage_reported is False and endpoint.lends_tokenizer)


class Texts:
    """Of one cell: request -> its answer, as much as may be held."""

    def __init__(self) -> None:
        self.kept: dict[int, str] = {}
        self._chars = 0

    def keep(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.text is not None and self._chars + len(row.text) <= MAX_CHARS:
                self.kept[row.request] = row.text
                self._chars += len(row.text)


def recounted(records: Records, texts: Mapping[int, str], target: Target, endpoint: Endpoint) -> tuple[Records, bool]:
    """The records with the tokens of these answers as the endpoint's tokenizer counts them, else as the local one does.

    And whether the user interrupted the counting: what was measured before it is kept all the same.
    """
    asked: Counts = {}
    own: Counts = {}
    interrupted = False
    try:
        if texts and endpoint.lends_tokenizer:
            asyncio.run(_ask(texts, target, endpoint.model, asked))
        if target.tokenizer is not None:
            encode = encoder(target.tokenizer)
            own.update((request, len(encode(text))) for request, text in texts.items() if request not in asked)
    except KeyboardInterrupt:
        interrupted = True
    return with_counts(with_counts(records, asked, TokenSource.TOKENIZE), own, TokenSource.TOKENIZER), interrupted


def with_counts(records: Records, counts: Counts, source: TokenSource) -> Records:
    """The records with these token counts and where they are from."""
    if not counts:
        return records
    osl, sources = records["osl"].copy(), records["token_source"].copy()
    for row in np.flatnonzero(np.isin(records["request"], list(counts))).tolist():
        osl[row], sources[row] = counts[int(records["request"][row])], source.value
    return records.replace(osl=osl, token_source=sources)


async def _ask(texts: Mapping[int, str], target: Target, model: str, counts: Counts) -> None:
    """Adds as many counts as the endpoint gives in time."""
    left = iter(texts.items())

    async def ask(session: aiohttp.ClientSession) -> None:
        for request, text in left:
            count = await _count(session, f"{target.root}{tokenize.PATH}", tokenize.question(model, text))
            if count is None:
                return
            counts[request] = count

    with suppress(TimeoutError):
        async with asyncio.timeout(WITHIN_S), open_session(target) as session:
            await asyncio.gather(*(ask(session) for _ in range(ABREAST)))


async def _count(session: aiohttp.ClientSession, url: str, question: dict[str, Any]) -> int | None:
    try:
        async with session.post(url, json=question, allow_redirects=False) as response:
            body = await body_of(response, MAX_BYTES) if response.status == 200 else None
            said = msgspec.json.decode(body) if body else None
    except (OSError, aiohttp.ClientError, ValueError):
        return None
    return tokenize.count_of(said) if isinstance(said, dict) else None
