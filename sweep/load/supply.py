"""The requests of a shard, in order, made ahead while there is time so that sending one costs no composing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from sweep.dialect import Dialect
from sweep.load import recount
from sweep.load.call import Call
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.load.shard import Shard
from sweep.plan import lengths, start
from sweep.prompt.ask import compose_ask
from sweep.prompt.tokens import words_for

READY = 16
_BLOCK = 256


class Supply:
    def __init__(self, shard: Shard, dialect: Dialect, reads: Reads) -> None:
        """`reads` is the tally that every call's meter adds to."""
        self._shard = shard
        self._dialect = dialect
        self._reads = reads
        self._keeps_text = recount.wanted(shard.target, shard.endpoint)
        own = slice(shard.worker, None, shard.workers)
        first = (each[own].tolist() for each in start.first_asked(shard.cell))
        self._first = deque(zip(*first, strict=True))
        self._lengths = self._drawn(len(self._first))
        self._ready: deque[Call] = deque()

    def take(self) -> Call:
        return self._ready.popleft() if self._ready else self._make()

    def top_up(self) -> bool:
        """Makes one request if fewer than READY wait; whether it did."""
        if len(self._ready) >= READY:
            return False
        self._ready.append(self._make())
        return True

    @property
    def opening(self) -> int:
        """How many slots have not asked their first request in mid-flight yet; 0 in a cold start."""
        return len(self._first)

    def take_first(self, mid_flight: bool) -> Call:
        """What the next slot of an equilibrium start asks first: what is left of an answer, or a whole request."""
        number, isl, osl = self._first.popleft()
        if not mid_flight:
            cell = self._shard.cell
            isl, osl = (int(drawn[0]) for drawn in lengths.pairs(cell.profile, cell.seed, np.array([number])))
        return self._made(number, isl, osl)

    def _make(self) -> Call:
        return self._made(*next(self._lengths))

    def _made(self, number: int, isl: int, osl: int) -> Call:
        cell, endpoint = self._shard.cell, self._shard.endpoint
        ask = compose_ask(
            cell.profile.text,
            cell.profile.images,
            model=endpoint.model,
            words=words_for(isl, endpoint.calibration),
            osl=osl,
            fields=endpoint.fields,
            seed=cell.seed,
            request=number,
            nonce=self._shard.run_id,
            prefix_share=cell.profile.prefix_share,
            passage=self._shard.passage,
            extra=cell.profile.body,
        )
        return Call(number, isl, osl, self._dialect.encode(ask), Meter(self._dialect, self._reads, self._keeps_text))

    def _drawn(self, skipped: int) -> Iterator[tuple[int, int, int]]:
        """(request, ISL, OSL) of this shard's requests after the first `skipped`, without end."""
        cell, stride = self._shard.cell, self._shard.workers
        first = cell.first_request + self._shard.worker + stride * skipped
        while True:
            requests = first + stride * np.arange(_BLOCK, dtype=np.int64)
            isl, osl = lengths.pairs(cell.profile, cell.seed, requests)
            yield from zip(requests.tolist(), isl.tolist(), osl.tolist(), strict=True)
            first += stride * _BLOCK
