"""The requests of a shard, in order, made ahead while there is time so that sending one costs no composing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from sweep.dialect import Dialect
from sweep.load.call import Call
from sweep.load.meter import Meter
from sweep.load.shard import Shard
from sweep.model import Ask
from sweep.plan import lengths
from sweep.prompt.text import compose
from sweep.prompt.tokens import words_for

READY = 16
_BLOCK = 256


class Supply:
    def __init__(self, shard: Shard, dialect: Dialect, reads: list[int]) -> None:
        """`reads` is the tally that every call's meter adds to; see Meter."""
        self._shard = shard
        self._dialect = dialect
        self._reads = reads
        self._lengths = self._drawn()
        self._ready: deque[Call] = deque()

    def take(self) -> Call:
        return self._ready.popleft() if self._ready else self._make()

    def top_up(self) -> bool:
        """Makes one request if fewer than READY wait; whether it did."""
        if len(self._ready) >= READY:
            return False
        self._ready.append(self._make())
        return True

    def _make(self) -> Call:
        number, isl, osl = next(self._lengths)
        cell, endpoint = self._shard.cell, self._shard.endpoint
        prompt = compose(cell.profile.text, words_for(isl, endpoint.calibration), cell.seed, number, self._shard.run_id)
        ask = Ask(model=endpoint.model, prompt=prompt, osl=osl, fields=endpoint.fields)
        return Call(number, isl, osl, self._dialect.encode(ask), Meter(self._dialect, self._reads))

    def _drawn(self) -> Iterator[tuple[int, int, int]]:
        """(request, ISL, OSL) of this shard's requests, without end."""
        cell, stride = self._shard.cell, self._shard.workers
        first = cell.first_request + self._shard.worker
        while True:
            requests = first + stride * np.arange(_BLOCK, dtype=np.int64)
            isl, osl = lengths.pairs(cell.profile, cell.seed, requests)
            yield from zip(requests.tolist(), isl.tolist(), osl.tolist(), strict=True)
            first += stride * _BLOCK
