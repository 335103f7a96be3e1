"""What stands behind an endpoint in virtual time: one engine, or a prefill and a decode engine with a link between them.

The caller asks for the next event and lets it happen; between events it may add requests.
"""

from __future__ import annotations

from heapq import heappop, heappush

from sweep.sim.device import Device
from sweep.sim.engine import Engine
from sweep.sim.sequence import Ints, Sequence, joined
from sweep.sim.settings import Settings


class Cluster:
    def __init__(self, device: Device, settings: Settings, link_b_per_s: float | None = None) -> None:
        """`link_b_per_s` None: one engine does both."""
        self._device = device
        self._link_b_per_s = link_b_per_s
        self._entry = Engine(device, settings, hands_off=link_b_per_s is not None)
        self.engines = [self._entry] if link_b_per_s is None else [self._entry, Engine(device, settings)]
        self._travelling: list[tuple[int, int, Sequence]] = []  # (landing ns, request, sequence)

    def add(self, sequence: Sequence) -> None:
        self._entry.add(sequence)

    def drop(self, sequence: Sequence) -> None:
        """The caller gave the request up."""
        self._travelling = [each for each in self._travelling if each[2] is not sequence]
        for engine in self.engines:
            engine.drop(sequence)

    def start(self, now_ns: int) -> None:
        """Let idle engines begin a step."""
        for engine in self.engines:
            if engine.step is None:
                engine.start(now_ns)

    def next_ns(self) -> int | None:
        """When the next thing happens."""
        if self._link_b_per_s is None:
            return self._entry.end_ns
        times = [engine.step.end_ns for engine in self.engines if engine.step]
        if self._travelling:
            times.append(self._travelling[0][0])
        return min(times, default=None)

    def advance(self) -> list[Sequence]:
        """Let the next thing happen; returns the sequences that are complete by it."""
        at_ns = self.next_ns()
        assert at_ns is not None
        if self._travelling and self._travelling[0][0] == at_ns:
            self.engines[-1].add(arrived(heappop(self._travelling)[2]))
            return []
        engine = next(engine for engine in self.engines if engine.end_ns == at_ns)
        step = engine.finish()
        for sequence in step.handed:
            assert self._link_b_per_s is not None
            landing_ns = at_ns + round(transfer_s(self._device, sequence, self._link_b_per_s) * 1e9)
            heappush(self._travelling, (landing_ns, sequence.request, sequence))
        return step.finished

    def progress(self, sequence: Sequence) -> tuple[Ints, Ints]:
        """(times ns, tokens) of all it emitted so far."""
        for engine in self.engines:
            if sequence.decoding and sequence.request in engine.running:
                return engine.progress(sequence)
        return joined(sequence.times_ns), joined(sequence.tokens)


def transfer_s(device: Device, sequence: Sequence, link_b_per_s: float) -> float:
    """How long the KV cache of a prompt travels."""
    return device.kv_b_per_token * sequence.prompt / link_b_per_s


def arrived(sequence: Sequence) -> Sequence:
    """The sequence as the decode engine receives it: its prompt is in memory, its prefix stayed behind."""
    sequence.transferred = True
    sequence.chain = ()
    sequence.named = 0
    return sequence
