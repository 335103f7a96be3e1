"""KV memory in blocks of 16 tokens: counted, shared by prefix, evicted least recently used.

A block is anonymous or published under the chain hash of the tokens up to its end. Published blocks are shared and counted
by reference; unreferenced ones stay, idle, until their place is needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from sweep.sim.device import BLOCK_TOKENS


def blocks_of(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS)


class Blocks:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held = 0  # referenced by at least one sequence
        self._references: dict[int, int] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    @property
    def free(self) -> int:
        """Blocks that can be had, by eviction if need be."""
        return self.capacity - self.held

    def take(self, count: int) -> None:
        self.held += count
        assert self.held <= self.capacity
        while self.held + len(self._idle) > self.capacity:
            evicted, _ = self._idle.popitem(last=False)
            del self._references[evicted]

    def give(self, count: int) -> None:
        self.held -= count

    def hits(self, chain: Sequence[int]) -> int:
        """How many leading blocks of the chain are there."""
        for found, block in enumerate(chain):
            if block not in self._references:
                return found
        return len(chain)

    def idle_among(self, chain: Sequence[int]) -> int:
        return sum(block in self._idle for block in chain)

    def share(self, chain: Sequence[int]) -> None:
        """Take a reference to published blocks."""
        for block in chain:
            if block in self._idle:
                del self._idle[block]
                self.held += 1
            self._references[block] += 1

    def publish(self, chain: Sequence[int]) -> list[int]:
        """Name anonymous blocks that now hold these tokens; returns those that were not named by another before."""
        new = [block for block in chain if block not in self._references]
        self._references.update(dict.fromkeys(new, 1))
        return new

    def release(self, chain: Sequence[int]) -> None:
        """Give references back, the last block first, so that the beginning of a prefix is evicted last."""
        for block in reversed(chain):
            self._references[block] -= 1
            if not self._references[block]:
                self._idle[block] = None
                self.held -= 1
