"""Driving the scheduler by hand, and a second scheduler that follows every sequence step by step, to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sweep.sim.blocks import blocks_of
from sweep.sim.device import BLOCK_TOKENS, MEMORY_B, Device, kv_blocks, preset, step_seconds
from sweep.sim.engine import Engine, Step
from sweep.sim.sequence import Sequence
from sweep.sim.settings import Settings


def small(blocks: int) -> Device:
    """A device with that many KV blocks."""
    device = preset("synthetic-8b-bf16")
    free_b = MEMORY_B - device.dense_b
    made = replace(device, kv_b_per_token=int(free_b // (BLOCK_TOKENS * blocks)))
    assert kv_blocks(made) == blocks
    return made


def play(engine: Engine, sequences: list[Sequence]) -> Iterator[Step]:
    """Adds each sequence when it arrives, yields each step when it has ended, until all is done."""
    coming = sorted(sequences, key=lambda sequence: sequence.arrival_ns)
    now_ns = 0
    while True:
        while coming and coming[0].arrival_ns <= now_ns:
            engine.add(coming.pop(0))
        if engine.start(now_ns):
            step = engine.finish()
            yield step
            now_ns = step.end_ns
        elif coming:
            now_ns = coming[0].arrival_ns
        else:
            return


@dataclass(eq=False)
class Plain:
    request: int
    prompt: int
    osl: int
    arrival_ns: int
    computed: int = 0
    blocks: int = 0
    target: int = 0
    emitted_ns: list[int] | None = None
    preemptions: int = 0


def plainly(device: Device, settings: Settings, asked: list[tuple[int, int, int]]) -> list[Plain]:
    """(arrival ns, prompt, osl) of each request through the same rules, one sequence and one token at a time."""
    seconds = step_seconds(device)
    free = kv_blocks(device)
    everyone = [Plain(n, prompt, osl, at, target=prompt, emitted_ns=[]) for n, (at, prompt, osl) in enumerate(asked)]
    coming = sorted(everyone, key=lambda one: one.arrival_ns)
    waiting: list[Plain] = []
    running: list[Plain] = []
    now_ns = 0
    while coming or waiting or running:
        if not waiting and not running:
            now_ns = max(now_ns, coming[0].arrival_ns)
        while coming and coming[0].arrival_ns <= now_ns:
            waiting.append(coming.pop(0))
        decoding = [one for one in running if one.computed >= one.target]
        preempted = False
        while sum(blocks_of(one.computed + 1) - one.blocks for one in decoding) > free:
            youngest = running.pop()
            if youngest in decoding:
                decoding.remove(youngest)
            free += youngest.blocks
            youngest.blocks = youngest.computed = 0
            youngest.target = youngest.prompt + len(youngest.emitted_ns or ())
            youngest.preemptions += 1
            waiting.insert(0, youngest)
            preempted = True
        for one in decoding:
            free -= blocks_of(one.computed + 1) - one.blocks
            one.blocks = blocks_of(one.computed + 1)
        budget = settings.budget_tokens - len(decoding)
        chunks = []
        for one in running:
            if one not in decoding and budget > 0:
                chunks.append((one, min(budget, one.target - one.computed)))
                budget -= chunks[-1][1]
        while not preempted and waiting and budget > 0 and len(running) < settings.max_sequences:
            if blocks_of(waiting[0].target) > free:
                break
            one = waiting.pop(0)
            running.append(one)
            one.blocks = blocks_of(one.target)
            free -= one.blocks
            chunks.append((one, min(budget, one.target)))
            budget -= chunks[-1][1]
        context = sum(one.computed for one in decoding)
        pairs = sum(n * (one.computed + n / 2) for one, n in chunks)
        tokens = len(decoding) + sum(n for _, n in chunks)
        now_ns += max(1, round(seconds(tokens, len(decoding) + len(chunks), context, pairs) * 1e9))
        for one, n in chunks + [(one, 1) for one in decoding]:
            one.computed += n
            if one.computed >= one.target:
                assert one.emitted_ns is not None
                one.emitted_ns.append(now_ns)
                if len(one.emitted_ns) == one.osl:
                    running.remove(one)
                    free += one.blocks
    return everyone
