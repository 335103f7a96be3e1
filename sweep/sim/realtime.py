"""The scheduler in real time: an engine whose steps end when the clock says so.

The next step begins where the last one should have ended, so that lateness does not add up; only when the loop is later than
a whole step does the schedule slip. Lateness is measured, never hidden.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic_ns

from sweep.sim.cluster import arrived, transfer_s
from sweep.sim.device import Device
from sweep.sim.engine import Engine, Step
from sweep.sim.sequence import Sequence
from sweep.sim.settings import Settings

Emit = Callable[[Sequence, int, Step, bool], None]
"""Told of every emission: sequence, tokens, step, whether the sequence is finished."""

LATENESS_KEPT = 1 << 16


class Realtime:
    """Plays one engine on the running loop."""

    def __init__(self, engine: Engine, emit: Emit, handed: Callable[[Sequence, int], None] | None = None) -> None:
        self.engine = engine
        self.lateness_ns: deque[int] = deque(maxlen=LATENESS_KEPT)  # of the last steps: wake-up − due
        self.slipped_ns = 0
        self._loop = asyncio.get_running_loop()
        self._emit = emit
        self._handed = handed

    def submit(self, sequence: Sequence) -> None:
        self.engine.add(sequence)
        if self.engine.step is None:
            self._start(monotonic_ns())

    def _start(self, now_ns: int) -> None:
        step = self.engine.start(now_ns)
        if step:
            self._loop.call_at(step.end_ns / 1e9, self._end)

    def _end(self) -> None:
        woken_ns = monotonic_ns()
        step = self.engine.finish()
        self.lateness_ns.append(woken_ns - step.end_ns)
        finished = {sequence.request for sequence in step.finished}
        for sequence, tokens in list(self.engine.emissions(step)):
            self._emit(sequence, tokens, step, sequence.request in finished)
        for sequence in step.handed:
            assert self._handed is not None
            self._handed(sequence, step.end_ns)
        begin_ns = step.end_ns
        late_ns = monotonic_ns() - begin_ns
        if late_ns > step.end_ns - step.start_ns:
            self.slipped_ns += late_ns
            begin_ns += late_ns
        self._start(begin_ns)


class Backend:
    """One engine, or a prefill and a decode engine with a link between them."""

    def __init__(self, device: Device, settings: Settings, emit: Emit, link_b_per_s: float | None = None) -> None:
        self._device = device
        self._link_b_per_s = link_b_per_s
        first = Engine(device, settings, hands_off=link_b_per_s is not None)
        self.stages = [Realtime(first, emit, self._transfer)]
        if link_b_per_s is not None:
            self.stages.append(Realtime(Engine(device, settings), emit))
        self._travelling: set[int] = set()

    def submit(self, sequence: Sequence) -> None:
        self.stages[0].submit(sequence)

    def drop(self, sequence: Sequence) -> None:
        """The client left; the engine forgets the sequence between two steps."""
        self._travelling.discard(sequence.request)
        for stage in self.stages:
            stage.engine.drop(sequence)

    def _transfer(self, sequence: Sequence, now_ns: int) -> None:
        assert self._link_b_per_s is not None
        seconds = transfer_s(self._device, sequence, self._link_b_per_s)
        self._travelling.add(sequence.request)
        asyncio.get_running_loop().call_at(now_ns / 1e9 + seconds, self._arrive, sequence)

    def _arrive(self, sequence: Sequence) -> None:
        if sequence.request in self._travelling:
            self._travelling.discard(sequence.request)
            self.stages[1].submit(arrived(sequence))
