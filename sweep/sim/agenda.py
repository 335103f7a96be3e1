"""What the decoding sequences will do, summed by step.

Without preemption the future of a decoding sequence is known the moment its prefill ends: so many tokens and blocks in each
coming step. With the sums at hand, a step of hundreds of decodes costs as much as a step of one.
"""

from __future__ import annotations

import numpy as np

from sweep.sim.sequence import Ints, Sequence

ROOM = 1 << 14


class Agenda:
    """Tokens and blocks of all decoding sequences, by step, and who ends when."""

    def __init__(self) -> None:
        self._base = 0
        self._tokens = np.zeros(ROOM, np.int64)
        self._blocks = np.zeros(ROOM, np.int64)
        self.endings: dict[int, list[Sequence]] = {}

    # Arrays begin at step `_base`; steps before `now` are forgotten when room is made.

    def add(self, now: int, step: int, tokens: Ints, blocks: Ints, sign: int = 1) -> None:
        self._make_room(now, step + len(tokens))
        at = slice(step - self._base, step - self._base + len(tokens))
        self._tokens[at] += sign * tokens
        self._blocks[at] += sign * blocks

    def tokens(self, step: int) -> int:
        at = step - self._base
        return int(self._tokens[at]) if at < len(self._tokens) else 0

    def blocks(self, step: int) -> int:
        at = step - self._base
        return int(self._blocks[at]) if at < len(self._blocks) else 0

    def _make_room(self, now: int, end: int) -> None:
        if end - self._base <= len(self._tokens):
            return
        size = max(len(self._tokens), 1 << (2 * (end - now)).bit_length())
        self._tokens = _moved(self._tokens, now - self._base, size)
        self._blocks = _moved(self._blocks, now - self._base, size)
        self._base = now


def _moved(values: Ints, gone: int, size: int) -> Ints:
    kept = values[gone:]
    return np.concatenate([kept, np.zeros(size - len(kept), np.int64)])
