"""A cell under way in virtual time: the load of a plan meets the scheduler without a network or a clock.

Batches of records of requests that ended and that are in flight, as the real load's fleet gives them, until told to finish.
Lengths and arrivals are those of the real load; times are exact; the same cell gives the same records bit for bit. Batches come
further apart as the cell grows older, and every step's tokens are one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np

from sweep import dialect as dialects
from sweep.model import Cell, Outcome
from sweep.plan import lengths, start
from sweep.plan.opening import Opening
from sweep.records import Batch, Records, from_rows
from sweep.sim import faults
from sweep.sim.arrivals import Arrivals, Asked
from sweep.sim.cluster import Cluster
from sweep.sim.device import BLOCK_TOKENS, preset
from sweep.sim.flight import BROKEN, REFUSED, Flight, row
from sweep.sim.options import Options
from sweep.sim.sequence import Sequence
from sweep.sim.work import work

BASE_NS = 1_000_000_000
REPORT_NS = 500_000_000
REPORT_SHARE = 16  # from 8 s on a batch comes every 1/16 of the time gone
REFUSAL_NS = 1_000_000


class Running:
    """A cell under way: iterate over its batches until the last one. `started_ns` is its beginning on the virtual clock."""

    def __init__(self, cell: Cell, options: Options) -> None:
        self.started_ns = BASE_NS
        self._cell = cell
        self._options = options
        self._traits = dialects.get(cell.profile.dialect).TRAITS
        self._faults = faults.parse(options.faults, options.seed)
        self._cluster = new_cluster(options)
        self._open: dict[int, Flight] = {}  # in sending order
        self._done: list[dict[str, Any]] = []
        self._timers: list[tuple[int, int]] = []  # (ns, request): when to look whether a request is to be given up
        self._end_ns: int | None = None
        self._aborted = False
        first, isl, osl = start.first_asked(cell)
        self._first = zip(first.tolist(), isl.tolist(), osl.tolist(), strict=True)
        self._opening = Opening(len(first))
        self._begun: dict[int, Flight] = {}  # by the slots that opened so
        self._arrivals = Arrivals(cell, BASE_NS, len(first))
        if len(first):
            self._open_slots(BASE_NS)
            self._cluster.start(BASE_NS)

    def finish(self, end_ns: int) -> None:
        """Keep the load on until all that was sent (open loop: planned) before `end_ns` has ended, then cut the rest."""
        self._end_ns = end_ns

    def abort(self) -> None:
        """Cut everything now."""
        self._aborted = True

    def close(self) -> None:
        self._aborted = True

    def recounted(self, records: Records) -> tuple[Records, bool]:
        """Every answer is counted already."""
        return records, False

    def __iter__(self) -> Iterator[Batch]:
        now_ns = self.started_ns
        report_ns = now_ns + REPORT_NS
        while not self._over(now_ns):
            now_ns = min(time_ns for time_ns in (self._next_event_ns(), report_ns, self._end_after(now_ns)) if time_ns)
            self._happen(now_ns)
            if now_ns >= report_ns and not self._over(now_ns):
                report_ns = now_ns + max(REPORT_NS, (now_ns - self.started_ns) // REPORT_SHARE)
                yield self._batch(now_ns)
        for flight in list(self._open.values()):
            flight.outcome = Outcome.CUT
            self._settle(flight, now_ns, "the cell ended")
        yield self._batch(now_ns, last=True)

    # --- time -----------------------------------------------------------------------------------------------------

    def _over(self, now_ns: int) -> bool:
        if self._aborted:
            return True
        if self._end_ns is None or now_ns < self._end_ns:
            return False
        oldest = next(iter(self._open.values()), None)
        return oldest is None or oldest.planned_ns >= self._end_ns

    def _end_after(self, now_ns: int) -> int | None:
        return self._end_ns if self._end_ns is not None and self._end_ns > now_ns else None

    def _next_event_ns(self) -> int | None:
        timer_ns = self._timers[0][0] if self._timers else None
        times = (self._arrivals.next_ns(), timer_ns, self._cluster.next_ns())
        return min((time_ns for time_ns in times if time_ns is not None), default=None)

    def _happen(self, now_ns: int) -> None:
        """Everything that is due at this moment: steps end, requests are given up, requests are sent, steps begin."""
        while self._cluster.next_ns() == now_ns:
            for sequence in self._cluster.advance():
                if sequence.request in self._open:
                    self._ended(self._open[sequence.request], now_ns)
        while self._timers and self._timers[0][0] <= now_ns:
            self._look_at(heappop(self._timers)[1], now_ns)
        for asked, sent_ns, pause_ns in self._arrivals.due(now_ns):
            self._send(asked, sent_ns, pause_ns)
        if self._opening.left:
            self._open_slots(now_ns)
        self._cluster.start(now_ns)

    # --- requests -------------------------------------------------------------------------------------------------

    def _open_slots(self, now_ns: int) -> None:
        """The next slots of an equilibrium start, as many as may wait for their first token."""
        opening = self._opening
        for request in opening.waiting:
            times, _ = self._cluster.progress(self._begun[request].sequence)
            if len(times) or request not in self._open:
                opening.answered(request, int(times[0]) if len(times) else None)
        while opening.may_open(now_ns) > 0:
            request, isl, osl = next(self._first)
            if not opening.mid_flight:
                isl, osl = (int(drawn[0]) for drawn in lengths.pairs(self._cell.profile, self._cell.seed, np.array([request])))
            opening.opened(request, isl, now_ns)
            self._send((request, isl, osl), now_ns, 0)
            self._begun[request] = self._open[request]

    def _send(self, asked: Asked, now_ns: int, pause_ns: int) -> None:
        request, isl, osl = asked
        asks = work(self._traits, isl, osl, self._options.unit_tokens)
        sequence = Sequence(request, asks.prompt, asks.steps, now_ns, self._chain(isl))
        flight = Flight(sequence, now_ns, isl, osl, units=asks.units, pause_ns=pause_ns)
        self._open[request] = flight
        struck = self._faults.of(request)
        refusal = next((REFUSED[kind] for kind in REFUSED if kind in struck), None)
        if asks.prompt + asks.steps > self._cluster.engines[0].max_tokens:
            refusal = Outcome.HTTP_ERROR, 400
        if refusal:
            flight.outcome, flight.status = refusal
            heappush(self._timers, (now_ns + REFUSAL_NS, request))
            return
        heappush(self._timers, (self._patience_ns(now_ns, now_ns), request))
        streams = self._traits.streams
        broken = next((outcome for kind, outcome in BROKEN.items() if kind in struck and streams), None)
        if broken or "early_stop" in struck:
            given = max(1, self._faults.place(request, osl))
            sequence.osl, flight.units = (given, 1) if streams else (1, given)
            flight.outcome = broken or (Outcome.WRONG_LENGTH if given != osl else Outcome.OK)
        if "hung" not in struck or not streams:
            self._cluster.add(sequence)

    def _patience_ns(self, sent_ns: int, heard_ns: int) -> int:
        """When a request is given up if nothing more is heard."""
        limits = self._cell.limits
        return min(heard_ns + round(limits.idle_timeout_s * 1e9), sent_ns + round(limits.deadline_s * 1e9))

    def _look_at(self, request: int, now_ns: int) -> None:
        flight = self._open.get(request)
        if flight is None:
            return
        if flight.status == 200:
            times, _ = self._cluster.progress(flight.sequence)
            patience_ns = self._patience_ns(flight.planned_ns, int(times[-1]) if len(times) else flight.planned_ns)
            if patience_ns > now_ns:
                heappush(self._timers, (patience_ns, request))
                return
            late = now_ns - flight.planned_ns >= round(self._cell.limits.deadline_s * 1e9)
            flight.outcome = Outcome.TIMEOUT_DEADLINE if late else Outcome.TIMEOUT_IDLE
            self._cluster.drop(flight.sequence)
        self._ended(flight, now_ns)

    def _chain(self, isl: int) -> tuple[int, ...]:
        """The blocks of the prefix that the profile's prompts share."""
        if not self._options.prefix_cache:
            return ()
        return tuple(range(min(round(self._cell.profile.prefix_share * isl), isl - 1) // BLOCK_TOKENS))

    def _ended(self, flight: Flight, now_ns: int) -> None:
        self._settle(flight, now_ns)
        answered = flight.outcome in (Outcome.OK, Outcome.WRONG_LENGTH)
        self._arrivals.ended(now_ns, answered=answered, pause_ns=flight.pause_ns)

    def _settle(self, flight: Flight, now_ns: int, error: str | None = None) -> None:
        del self._open[flight.sequence.request]
        self._done.append(self._row(flight) | {"end_ns": now_ns, "outcome": flight.outcome.value, "error": error})

    # --- records --------------------------------------------------------------------------------------------------

    def _batch(self, now_ns: int, last: bool = False) -> Batch:
        done, self._done = self._done, []
        return Batch(0, now_ns, from_rows(done), from_rows(map(self._row, self._open.values())), last, None)

    def _row(self, flight: Flight) -> dict[str, Any]:
        cell = self._cell
        place = {"cell": cell.index, "repeat": cell.repeat, "worker": 0}
        return place | row(flight, *self._cluster.progress(flight.sequence), self._options.reasoning)


def new_cluster(options: Options) -> Cluster:
    return Cluster(preset(options.preset), options.settings, options.link_b_per_s)
