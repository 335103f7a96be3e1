"""One request inside the scheduler: how far it is, and the steps in which it will emit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NONE: Ints = np.empty(0, np.int64)


def none() -> Ints:
    return NONE


@dataclass(slots=True, eq=False)
class Sequence:
    """A request of `prompt` tokens that is to emit `osl` tokens.

    While it decodes it emits sizes[j] tokens in step `run_step + j`, before which `context[j - 1]` of its tokens are in KV
    memory; `granted[j]` blocks are its own in that step. A preemption ends the run; what was emitted stays in `times`.
    """

    request: int
    prompt: int
    osl: int
    arrival_ns: int
    chain: tuple[int, ...] = ()  # chain hashes of the prompt's full blocks, when prefixes are cached
    admitted_ns: int | None = None
    emitted: int = 0  # in earlier runs
    computed: int = 0  # tokens whose KV is there, while prefilling
    target: int = 0  # tokens to compute before the next one can be sampled
    blocks: int = 0  # blocks held while prefilling, shared ones included
    named: int = 0  # leading blocks of the chain that were found or published
    shared: list[int] = field(default_factory=list)
    cached: int = 0  # prompt tokens found in the prefix cache at first admission
    preemptions: int = 0
    transferred: bool = False  # its KV arrives from a prefill engine
    run_step: int = -1  # -1: not decoding
    sizes: Ints = field(default_factory=none)
    context: Ints = field(default_factory=none)
    granted: Ints = field(default_factory=none)
    times_ns: list[Ints] = field(default_factory=list)
    tokens: list[Ints] = field(default_factory=list)

    @property
    def last_step(self) -> int:
        return self.run_step + len(self.sizes) - 1

    @property
    def decoding(self) -> bool:
        return self.run_step >= 0


def joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else NONE
