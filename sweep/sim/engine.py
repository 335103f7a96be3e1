"""The scheduler in virtual time: what vLLM V1 and Sarathi do, step by step. No clock, no network.

A step has a budget of new tokens. Decodes come first, then the running prefills in chunks, first come first served, then
waiting requests while budget, places and KV blocks allow. Where blocks are short, idle cached prefixes are evicted, then the
youngest sequence is preempted: it goes back to the head of the queue and is computed again. Every token of a step is
emitted at its end.

The blocks of all that is to be computed are granted at admission, further ones as the answer grows. The caller sees to it
that no request exceeds `max_tokens`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from sweep.sim.blocks import Blocks, blocks_of
from sweep.sim.chance import normal
from sweep.sim.decodes import Decodes
from sweep.sim.device import BLOCK_TOKENS, Device, kv_blocks, step_seconds
from sweep.sim.sequence import Ints, Sequence, joined
from sweep.sim.settings import Settings


@dataclass(slots=True)
class Step:
    """One step: when, and who emits, begins or ends in it."""

    index: int
    start_ns: int
    end_ns: int
    tokens: int = 0
    sequences: int = 0
    firsts: list[Sequence] = field(default_factory=list)  # prefill ends: their next token is sampled
    finished: list[Sequence] = field(default_factory=list)
    handed: list[Sequence] = field(default_factory=list)  # leave for the decode engine


class Engine:
    """One model replica. `start` schedules a step, `finish` ends it; the caller owns the clock."""

    def __init__(self, device: Device, settings: Settings | None = None, *, hands_off: bool = False) -> None:
        self.settings = settings or Settings()
        self.hands_off = hands_off  # a prefill engine: sequences leave after their first token
        self.pool = Blocks(kv_blocks(device))
        self.waiting: deque[Sequence] = deque()
        self.running: dict[int, Sequence] = {}  # in order of admission
        self.prefilling: dict[int, Sequence] = {}
        self.preemptions = 0
        self.step: Step | None = None
        self._seconds = step_seconds(device)
        self._decodes = Decodes(self.settings.draft_tokens, self.settings.acceptance, self.settings.seed)
        self._chunks: list[tuple[Sequence, int]] = []
        self._given_up: list[Sequence] = []

    # --- the caller's side -------------------------------------------------------------------------------------

    @property
    def max_tokens(self) -> int:
        """The longest prompt + answer that fits alone."""
        return (self.pool.capacity - 1) * BLOCK_TOKENS

    @property
    def end_ns(self) -> int | None:
        return self.step.end_ns if self.step else None

    def add(self, sequence: Sequence) -> None:
        sequence.target = sequence.prompt + sequence.emitted
        self.waiting.append(sequence)

    def start(self, now_ns: int) -> Step | None:
        """Schedule the next step; None when there is nothing to do."""
        if not self.running and not self.waiting:
            return None
        preempted = self._grant_decodes()
        if self.prefilling:
            self._continue_prefills()
        if self.waiting and not preempted:
            self._admit(now_ns)
        decodes = self._decodes
        tokens, pairs, sequences = decodes.count * decodes.width, 0.0, decodes.count
        for sequence, n in self._chunks:
            tokens += n
            pairs += n * (sequence.computed + n / 2)
            sequences += 1
        if not sequences:
            decodes.idle()
            return None
        seconds = self._seconds(tokens, sequences, decodes.context, pairs)
        if self.settings.draft_tokens and decodes.count:
            seconds += self.settings.draft_s
        if self.settings.noise:
            sigma = self.settings.noise
            seconds *= math.exp(sigma * normal(self.settings.seed, decodes.step) - sigma * sigma / 2)
        end_ns = now_ns + max(1, round(seconds * self.settings.time_scale * 1e9))
        self.step = Step(decodes.step, now_ns, end_ns, tokens, sequences)
        return self.step

    def finish(self) -> Step:
        """End the step: every token of it is out at its `end_ns`."""
        step = self.step
        assert step is not None
        self.step = None
        for sequence in self._decodes.ended(step.end_ns):
            self._leave(sequence)
            step.finished.append(sequence)
        self._decodes.advance()
        for sequence, n in self._chunks:
            self._compute(sequence, n, step)
        self._chunks = []
        while self._given_up:
            self._drop(self._given_up.pop())
        self._decodes.forget(self.running.values())
        return step

    def progress(self, sequence: Sequence) -> tuple[Ints, Ints]:
        """(times ns, tokens) of all it emitted so far."""
        times, tokens = list(sequence.times_ns), list(sequence.tokens)
        if sequence.decoding:
            run_times, run_tokens = self._decodes.run_so_far(sequence)
            times.append(run_times)
            tokens.append(run_tokens)
        return joined(times), joined(tokens)

    def drop(self, sequence: Sequence) -> None:
        """The caller gave the request up. It still takes part in a step under way."""
        if self.step is None:
            self._drop(sequence)
        else:
            self._given_up.append(sequence)

    def emissions(self, step: Step) -> Iterator[tuple[Sequence, int]]:
        """Who emitted how many tokens in the step that just ended."""
        for sequence in step.firsts:
            yield sequence, 1
        for sequence in step.finished:
            if len(sequence.tokens[-1]) > 1:
                yield sequence, int(sequence.tokens[-1][-1])
        for sequence in self.running.values():
            if -1 < sequence.run_step < step.index:
                yield sequence, int(sequence.sizes[step.index - sequence.run_step])

    # --- scheduling --------------------------------------------------------------------------------------------

    @property
    def _budget(self) -> int:
        """New tokens that the decodes leave room for in a step."""
        return self.settings.budget_tokens - self._decodes.count * self._decodes.width

    def _grant_decodes(self) -> bool:
        preempted = False
        while (needed := self._decodes.needed()) > self.pool.free:
            self._preempt_youngest()
            preempted = True
        self.pool.take(needed)
        self._decodes.granted()
        return preempted

    def _continue_prefills(self) -> None:
        budget = self._budget
        for sequence in self.prefilling.values():
            n = min(sequence.target - sequence.computed, budget)
            if n <= 0:
                break
            self._chunks.append((sequence, n))
            budget -= n

    def _admit(self, now_ns: int) -> None:
        """Take waiting sequences in. The blocks of all that is to be computed are granted at once."""
        budget = self._budget - sum(n for _, n in self._chunks)
        while self.waiting and budget > 0 and len(self.running) < self.settings.max_sequences:
            sequence = self.waiting[0]
            hits = sequence.chain[: self.pool.hits(sequence.chain)]
            blocks = blocks_of(sequence.target)
            if blocks - len(hits) + (self.pool.idle_among(hits) if hits else 0) > self.pool.free:
                break
            self.waiting.popleft()
            self.pool.share(hits)
            self.pool.take(blocks - len(hits))
            sequence.shared = list(hits)
            sequence.named = len(hits)
            sequence.blocks = blocks
            sequence.computed = sequence.target - 1 if sequence.transferred else len(hits) * BLOCK_TOKENS
            if sequence.admitted_ns is None:
                sequence.admitted_ns = now_ns
                sequence.cached = len(hits) * BLOCK_TOKENS
            self.running[sequence.request] = self.prefilling[sequence.request] = sequence
            n = min(sequence.target - sequence.computed, budget)
            self._chunks.append((sequence, n))
            budget -= n

    def _preempt_youngest(self) -> None:
        sequence = next(reversed(self.running.values()))
        self._leave(sequence)
        sequence.preemptions += 1
        sequence.transferred = False
        self.preemptions += 1
        sequence.target = sequence.prompt + sequence.emitted
        self.waiting.appendleft(sequence)

    # --- a sequence's way --------------------------------------------------------------------------------------

    def _compute(self, sequence: Sequence, n: int, step: Step) -> None:
        """A chunk of the prefill is done; after the last one the first token of a run is out."""
        sequence.computed += n
        full = min(sequence.computed // BLOCK_TOKENS, len(sequence.chain))
        sequence.shared += self.pool.publish(sequence.chain[sequence.named : full])
        sequence.named = full
        if sequence.computed < sequence.target:
            return
        del self.prefilling[sequence.request]
        self._decodes.begin(sequence, step.index)
        step.firsts.append(sequence)
        if self.hands_off or not len(sequence.sizes) - 1:
            self._leave(sequence)
            (step.finished if sequence.emitted == sequence.osl else step.handed).append(sequence)

    def _leave(self, sequence: Sequence) -> None:
        """Take the sequence off the engine and give its blocks back."""
        del self.running[sequence.request]
        if self.prefilling.pop(sequence.request, None):
            self._chunks = [chunk for chunk in self._chunks if chunk[0] is not sequence]
        elif sequence.decoding:
            self._decodes.end(sequence)
        self.pool.give(sequence.blocks - len(sequence.shared))
        self.pool.release(sequence.shared)
        sequence.shared = []
        sequence.blocks = sequence.computed = 0

    def _drop(self, sequence: Sequence) -> None:
        if sequence.request in self.running:
            self._leave(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)
