"""The decoding sequences of one engine: what each will emit in the steps to come, and when it emitted in those gone.

A run begins with the step that ends a prefill and goes on, one emission a step, until the answer is complete or the sequence is
preempted. From its first step on all of it is on the agenda.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from sweep.sim.agenda import Agenda
from sweep.sim.chance import uniforms
from sweep.sim.device import BLOCK_TOKENS
from sweep.sim.sequence import NONE, Ints, Sequence

HISTORY_STEPS = 1 << 16  # so often it is looked which step ends are still needed


class Decodes:
    """Sums over the decoding sequences, step by step. `step` is the one that comes next, or is under way."""

    def __init__(self, draft_tokens: int, acceptance: float, seed: int) -> None:
        self.step = 0
        self.count = 0
        self.context = 0  # Σ tokens in KV memory
        self._drafts, self._acceptance, self._seed = draft_tokens, acceptance, seed
        self._agenda = Agenda()
        self._counted = 0  # blocks are taken for steps before this one
        self._ends = array("q")
        self._ends_base = 0

    @property
    def width(self) -> int:
        """Tokens that a sequence computes in a step: its next one and the drafts."""
        return self._drafts + 1

    def needed(self) -> int:
        """Blocks that the coming step asks for."""
        return self._agenda.blocks(self.step)

    def granted(self) -> None:
        """The blocks of the coming step are taken."""
        self._counted = self.step + 1

    def idle(self) -> None:
        """The coming step does not happen now."""
        self._counted = self.step

    def ended(self, end_ns: int) -> list[Sequence]:
        """The step is over; returns the sequences whose answer it completed."""
        self._ends.append(end_ns)
        self.context += self._agenda.tokens(self.step)
        return self._agenda.endings.pop(self.step, [])

    def advance(self) -> None:
        self.step += 1

    def begin(self, sequence: Sequence, step: int) -> None:
        """A run: from here on the sequence's emissions are known, the first of them in `step`."""
        left = sequence.osl - sequence.emitted - 1
        sizes = np.concatenate([[1], self._sizes(sequence, left)]).astype(np.int64)
        sequence.run_step = step
        sequence.sizes = sizes
        sequence.context = sequence.target - 1 + np.cumsum(sizes)
        ahead = -(-(sequence.context + self.width) // BLOCK_TOKENS)
        sequence.granted = np.maximum(np.concatenate([[sequence.blocks], ahead[:-1]]), sequence.blocks)
        self._agenda.add(step, step, sizes, np.diff(sequence.granted, prepend=sequence.blocks))
        self._agenda.endings.setdefault(sequence.last_step, []).append(sequence)
        self.count += 1
        self.context += sequence.target

    def end(self, sequence: Sequence) -> None:
        """Record what the run emitted in steps that ended, and take the rest off the agenda."""
        times, tokens = self.run_so_far(sequence)
        steps = len(tokens)
        sequence.times_ns.append(times)
        sequence.tokens.append(tokens)
        taken = min(self._counted - sequence.run_step, len(sequence.sizes))
        sequence.blocks = int(sequence.granted[taken - 1])
        if steps < len(sequence.sizes):
            self._agenda.endings[sequence.last_step].remove(sequence)
            diffs = np.diff(sequence.granted, prepend=sequence.granted[0])
            at = sequence.run_step + steps
            self._agenda.add(self.step, at, sequence.sizes[steps:], diffs[steps:], sign=-1)
        self.count -= 1
        self.context -= int(sequence.context[steps - 1]) if steps else sequence.target
        sequence.run_step = -1
        sequence.emitted += int(tokens.sum())
        sequence.sizes = sequence.context = sequence.granted = NONE

    def run_so_far(self, sequence: Sequence) -> tuple[Ints, Ints]:
        """(times ns, tokens) of what the run emitted."""
        first = sequence.run_step - self._ends_base
        times = np.frombuffer(self._ends[first : first + len(sequence.sizes)], np.int64)
        return times, sequence.sizes[: len(times)]

    def forget(self, running: Iterable[Sequence]) -> None:
        """Drop now and then the step ends that none of these can ask for any more."""
        if self.step % HISTORY_STEPS:
            return
        oldest = min((one.run_step for one in running if one.decoding), default=self.step)
        self._ends = self._ends[oldest - self._ends_base :]
        self._ends_base = oldest

    def _sizes(self, sequence: Sequence, left: int) -> Ints:
        """Tokens per decode step: one, and with speculation the drafts accepted before the first refusal."""
        drafts = self._drafts
        if not drafts or not left:
            return np.ones(left, np.int64)
        first = sequence.osl - left
        kept = (uniforms(self._seed, sequence.request, first=first, count=left) < self._acceptance).tolist()
        sizes = []
        at = 0
        while at < left:
            size = 1
            while size <= drafts and at + size < left and kept[at + size]:
                size += 1
            sizes.append(size)
            at += size
        return np.array(sizes, np.int64)
